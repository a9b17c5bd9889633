// SPDX-License-Identifier: Apache-2.0
// Mapping of whole tensors, plane by plane.
#include <algorithm>

#include "base/format_error.h"
#include "halyard/tensor.h"

namespace halyard {

Result<TensorMap> Tensor::map(Access access) const {
  if (is_empty()) return fail(Errc::invalid_argument, "tensor: is empty, it has no bytes to map");
  TensorMap map;
  map.layout_ = layout_;
  map.access_ = access;
  std::array<const Buffer*, 3> buffers{};
  std::array<std::byte*, 3> bases{};
  for (std::size_t i = 0; i < planes_.size() && planes_[i].buffer; ++i) {
    const auto* known = std::find(buffers.begin(), buffers.begin() + i, planes_[i].buffer.get());
    buffers[i] = planes_[i].buffer.get();
    if (known != buffers.begin() + i) {
      bases[i] = bases[static_cast<std::size_t>(known - buffers.begin())];
      continue;
    }
    HALYARD_TRY(Map mapped, planes_[i].buffer->map(access));
    // Read-only maps keep the address for reading; writable() guards the rest.
    bases[i] = const_cast<std::byte*>(mapped.bytes().data());
    map.maps_.push_back(std::move(mapped));
  }
  map.base_ = bases[0] + planes_[0].offset_bytes;
  map.plane_count_ = plane_count();
  const bool planar = format_ && info(*format_).kind == FormatKind::planar;
  for (std::size_t i = 0; i < map.plane_count_; ++i) {
    HALYARD_TRY(const ImagePlane plane, image_plane(i));
    std::byte* data = bases[planar ? 0 : i] + plane.offset_bytes;
    map.planes_[i] = {data, can_write(access) ? data : nullptr, plane.stride_bytes, plane.row_bytes,
                      plane.rows};
  }
  if (format_ && !planar && map.plane_count_ > 1) {
    for (std::size_t i = 1; i < map.plane_count_; ++i) {
      HALYARD_TRY(const PlaneGeometry g,
                  plane_geometry(*format_, dtype(), width_, height_, planes_[0].stride_bytes, i));
      const auto* expected = map.base_ + g.offset_bytes;
      if (map.planes_[i].data != expected || map.planes_[i].stride_bytes != g.stride_bytes) {
        map.planes_adjacent_ = false;
      }
    }
  }
  return map;
}

Status TensorMap::check_view(std::optional<DType> dtype, std::size_t rank, bool writes) const {
  if (!dtype || *dtype != layout_.dtype) {
    return fail(Errc::invalid_argument, "view: the element type is not the tensor's dtype",
                "the tensor is {}", to_string(layout_.dtype));
  }
  if (rank != layout_.rank) {
    return fail(Errc::invalid_argument, "view: the count of axes is not the tensor's rank",
                "{} asked, rank {}", rank, layout_.rank);
  }
  if (writes && !can_write(access_)) {
    return fail(Errc::permission, "view: the map is read-only; use a const element type");
  }
  if (!planes_adjacent_) {
    return fail(Errc::unsupported, "view: the picture's planes do not follow one another");
  }
  return {};
}

Status TensorMap::check_contiguous() const {
  if (layout_.is_contiguous()) return {};
  return fail(Errc::unsupported, "flat: the tensor is strided");
}

}  // namespace halyard
