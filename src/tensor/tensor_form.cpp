// SPDX-License-Identifier: Apache-2.0
// Tensors without memory: what frames of one kind have in common.
#include <algorithm>
#include <utility>

#include "halyard/tensor.h"
#include "tensor/image_storage.h"

namespace halyard {

[[gnu::hot]] bool Tensor::has_form_of(const Tensor& other) const noexcept {
  const Layout& a = layout_;
  const Layout& b = other.layout_;
  const auto same_plane = [](const PlaneSource& one, const PlaneSource& another) {
    return one.offset_bytes == another.offset_bytes && one.stride_bytes == another.stride_bytes &&
           one.plane_stride_bytes == another.plane_stride_bytes;
  };
  return a.dtype == b.dtype && a.rank == b.rank &&
         std::equal(a.shape.begin(), a.shape.begin() + a.rank, b.shape.begin()) &&
         std::equal(a.stride_bytes.begin(), a.stride_bytes.begin() + a.rank,
                    b.stride_bytes.begin()) &&
         std::equal(planes_.begin(), planes_.end(), other.planes_.begin(), same_plane) &&
         format_ == other.format_ && width_ == other.width_ && height_ == other.height_ &&
         colorimetry_ == other.colorimetry_ && modifier_ == other.modifier_ &&
         opaque_ == other.opaque_ && item_format_ == other.item_format_ &&
         quantization_ == other.quantization_ && name_ == other.name_;
}

[[gnu::hot]] void Tensor::put_over(std::shared_ptr<Buffer> buffer, Tensor& out) const {
  if (&out != this) out = *this;
  const std::size_t planes = format_ ? storage_planes(info(*format_)) : 1;
  for (std::size_t i = 1; i < planes; ++i)
    out.planes_[i].buffer = buffer;
  out.planes_[0].buffer = std::move(buffer);
}

}  // namespace halyard
