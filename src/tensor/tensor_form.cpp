// SPDX-License-Identifier: Apache-2.0
// Comparison of tensors without their memory: what all frames of one kind have in common.
#include <utility>

#include "halyard/tensor.h"
#include "tensor/image_storage.h"

namespace halyard {

// Short code without branches, because it and both tensors are not in the cache in a camera's loop.
// Axes beyond the rank are compared too: if they differ, the forms count as different.
[[gnu::hot]] bool Tensor::has_form_of(const Tensor& other) const noexcept {
  const Layout& a = layout_;
  const Layout& b = other.layout_;
  std::size_t differs = 0;
#pragma GCC unroll 1
  for (std::size_t i = 0; i < max_rank; ++i) {
    differs |= a.shape[i] ^ b.shape[i];
    differs |= static_cast<std::size_t>(a.stride_bytes[i] ^ b.stride_bytes[i]);
  }
#pragma GCC unroll 1
  for (std::size_t i = 0; i < planes_.size(); ++i) {
    const PlaneSource& one = planes_[i];
    const PlaneSource& another = other.planes_[i];
    differs |= one.offset_bytes ^ another.offset_bytes;
    differs |= one.stride_bytes ^ another.stride_bytes;
    differs |= one.plane_stride_bytes ^ another.plane_stride_bytes;
  }
  differs |= (width_ ^ other.width_) | (height_ ^ other.height_) | (modifier_ ^ other.modifier_);
  return differs == 0 && a.dtype == b.dtype && a.rank == b.rank && format_ == other.format_ &&
         colorimetry_ == other.colorimetry_ && orientation_ == other.orientation_ &&
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
