// SPDX-License-Identifier: Apache-2.0
// Mapping of whole tensors, plane by plane.
#include <algorithm>
#include <optional>

#include "base/format_error.h"
#include "halyard/tensor.h"

namespace halyard {

namespace {

// The bytes of a dense or strided tensor as one run, or none when it has no elements.
std::optional<ByteRegion> run_of(const Layout& layout, std::size_t offset) {
  std::ptrdiff_t lowest = 0;
  auto end = static_cast<std::ptrdiff_t>(size_of(layout.dtype));
  for (std::size_t axis = 0; axis < layout.rank; ++axis) {
    if (layout.shape[axis] == 0) return std::nullopt;
    const std::ptrdiff_t span =
        layout.stride_bytes[axis] * static_cast<std::ptrdiff_t>(layout.shape[axis] - 1);
    (span < 0 ? lowest : end) += span;
  }
  return ByteRegion{offset + static_cast<std::size_t>(lowest),
                    static_cast<std::size_t>(end - lowest), 1, 0};
}

}  // namespace

std::size_t Tensor::byte_regions(std::size_t i, std::span<ByteRegion, 4> regions) const noexcept {
  const PlaneSource& source = planes_[i];
  if (!source.buffer) return 0;
  if (!format_) {
    const auto run = run_of(layout_, source.offset_bytes);
    if (run) regions[0] = *run;
    return run ? 1 : 0;
  }
  const bool planar = info(*format_).kind == FormatKind::planar;
  const std::size_t first = planar ? 0 : i;
  const std::size_t count = planar ? info(*format_).channels : 1;
  for (std::size_t k = 0; k < count; ++k) {
    const auto plane = image_plane(first + k);
    if (!plane) return 0;
    regions[k] = {plane->offset_bytes, plane->row_bytes, plane->rows, plane->stride_bytes};
  }
  return count;
}

bool aliases(const Tensor& a, const Tensor& b) noexcept {
  std::array<ByteRegion, 4> first;
  std::array<ByteRegion, 4> second;
  for (std::size_t i = 0; i < a.planes_.size(); ++i) {
    for (std::size_t k = 0; k < b.planes_.size(); ++k) {
      const auto& one = a.planes_[i].buffer;
      const auto& other = b.planes_[k].buffer;
      if (!one || !other) continue;
      if (one != other) {
        const auto identity = one->identity();
        if (!identity || identity != other->identity()) continue;
      }
      const auto mine = std::span(first).first(a.byte_regions(i, first));
      const auto yours = std::span(second).first(b.byte_regions(k, second));
      for (const ByteRegion& region : mine) {
        if (std::any_of(yours.begin(), yours.end(),
                        [&region](const ByteRegion& r) { return overlaps(region, r); })) {
          return true;
        }
      }
    }
  }
  return false;
}

Result<TensorMap> Tensor::map(Access access) const {
  return map_with(access, true);
}

Result<TensorMap> Tensor::map_unclaimed(Access access) const {
  return map_with(access, false);
}

Result<TensorMap> Tensor::map_with(Access access, bool claimed) const {
  if (is_empty()) return fail(Errc::invalid_argument, "tensor: is empty, it has no bytes to map");
  if (opaque_ || !is_linear(modifier_)) {
    return fail(Errc::unsupported, "modifier: no CPU can read this arrangement of pixels", "{}",
                modifier_to_string(modifier_));
  }
  TensorMap map;
  map.layout_ = layout_;
  map.access_ = access;
  std::array<std::byte*, 3> bases{};
  for (std::size_t i = 0; i < planes_.size() && planes_[i].buffer; ++i) {
    const auto* known = std::find_if(planes_.begin(), planes_.begin() + i, [&](const auto& plane) {
      return plane.buffer == planes_[i].buffer;
    });
    // Planes of one buffer share one map, and with it the coherency work.
    if (known != planes_.begin() + i) {
      bases[i] = bases[static_cast<std::size_t>(known - planes_.begin())];
      continue;
    }
    HALYARD_TRY(map.maps_[i], map_buffer(planes_[i].buffer, access, claimed));
    // Read-only maps keep the address for reading; writable() guards the rest.
    bases[i] = const_cast<std::byte*>(map.maps_[i].bytes().data());
  }
  map.base_ = bases[0] + planes_[0].offset_bytes;
  if (format_) HALYARD_CHECK(map_image(map, bases));
  return map;
}

Result<Map> Tensor::map_buffer(const std::shared_ptr<Buffer>& buffer, Access access,
                               bool claimed) const {
  std::array<ByteRegion, 4> all;
  std::size_t count = 0;
  for (std::size_t i = 0; claimed && can_write(access) && i < planes_.size(); ++i) {
    if (planes_[i].buffer != buffer) continue;
    std::array<ByteRegion, 4> regions;
    const std::size_t more = byte_regions(i, regions);
    std::copy_n(regions.begin(), more, all.begin() + static_cast<std::ptrdiff_t>(count));
    count += more;
  }
  // A tensor without elements writes nothing.
  return Buffer::map_shared(buffer, access, std::span(all).first(count), count > 0);
}

Status Tensor::map_image(TensorMap& map, const std::array<std::byte*, 3>& bases) const {
  map.plane_count_ = plane_count();
  const bool planar = info(*format_).kind == FormatKind::planar;
  for (std::size_t i = 0; i < map.plane_count_; ++i) {
    HALYARD_TRY(const ImagePlane plane, image_plane(i));
    std::byte* data = bases[planar ? 0 : i] + plane.offset_bytes;
    map.planes_[i] = {data, can_write(map.access_) ? data : nullptr, plane.stride_bytes,
                      plane.row_bytes, plane.rows};
  }
  map.planes_adjacent_ = planes_adjacent();
  return {};
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
  return check_alignment();
}

Status TensorMap::check_alignment() const {
  const std::size_t element = size_of(layout_.dtype);
  if (reinterpret_cast<std::uintptr_t>(base_) % element != 0) {
    return fail(Errc::invalid_argument, "view: the elements do not lie at multiples of their size",
                "{} at an address ending in {:#x}", to_string(layout_.dtype),
                reinterpret_cast<std::uintptr_t>(base_) % 16);
  }
  for (std::size_t axis = 0; axis < layout_.rank; ++axis) {
    if (layout_.stride_bytes[axis] % static_cast<std::ptrdiff_t>(element) != 0) {
      return fail(Errc::invalid_argument, "view: a stride is no multiple of the element size",
                  "axis {}: {} bytes, {} has {}", axis, layout_.stride_bytes[axis],
                  to_string(layout_.dtype), element);
    }
  }
  return {};
}

Status TensorMap::check_contiguous() const {
  if (layout_.is_contiguous()) return {};
  return fail(Errc::unsupported, "flat: the tensor is strided");
}

}  // namespace halyard
