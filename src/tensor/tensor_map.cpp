// SPDX-License-Identifier: Apache-2.0
// Maps whole tensors, plane by plane.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/text/format_error.h"
#include "halyard/tensor.h"
#include "tensor/format.h"

namespace halyard {

namespace {

// Rows of one pitch, with gaps between them, that hold all elements, if such rows exist. Axes with
// small strides form the row. The axes with wider strides, as long as each continues the one
// before, are the rows. Nullopt: the elements' outer bounds are as exact.
std::optional<ByteRegion> rows_of(const Layout& layout, ByteRegion bounds) {
  struct Axis {
    std::size_t stride, extent;
  };
  std::array<Axis, max_rank> axes;  // sorted by stride, the smallest first
  std::size_t count = 0;
  for (std::size_t i = 0; i < layout.rank; ++i) {
    const auto stride = static_cast<std::size_t>(std::abs(layout.stride_bytes[i]));
    if (stride == 0 || layout.shape[i] < 2) continue;
    std::size_t at = count++;
    for (; at > 0 && axes[at - 1].stride > stride; --at)
      axes[at] = axes[at - 1];
    axes[at] = {stride, layout.shape[i]};
  }
  std::size_t run = size_of(layout.dtype);
  std::size_t axis = 0;
  for (; axis < count && axes[axis].stride == run; ++axis)
    run *= axes[axis].extent;
  if (axis == count) return std::nullopt;
  const std::size_t pitch = axes[axis].stride;
  std::size_t rows = axes[axis].extent;
  for (++axis; axis < count; ++axis) {
    // Rows of outer axes must fall on the same pitch; the rows between two of them count too.
    if (axes[axis].stride % pitch != 0) return std::nullopt;
    rows += (axes[axis].extent - 1) * (axes[axis].stride / pitch);
  }
  if (run >= pitch) return std::nullopt;
  return ByteRegion{bounds.offset_bytes, run, rows, pitch};
}

// The bytes of a dense or strided tensor as one region; nullopt if it has no elements.
std::optional<ByteRegion> run_of(const Layout& layout, std::size_t offset) {
  // wrap() has checked that the elements lie in the buffer.
  const Reach reach = *reach_of(layout);
  if (reach.end == 0) return std::nullopt;
  const ByteRegion bounds{offset + static_cast<std::size_t>(reach.lowest),
                          static_cast<std::size_t>(reach.end - reach.lowest), 1, 0};
  if (bounds.row_bytes == layout.size_bytes()) return bounds;
  return rows_of(layout, bounds).value_or(bounds);
}

}  // namespace

std::size_t Tensor::byte_regions(std::span<ByteRegion, 4> regions) const noexcept {
  if (is_empty()) return 0;
  if (!format_) {
    const auto run = run_of(layout_, planes_[0].offset_bytes);
    if (run) regions[0] = *run;
    return run ? 1 : 0;
  }
  const FormatInfo& f = info(*format_);
  const std::size_t element = size_of(dtype());
  const bool one = has_one_source();
  for (std::size_t i = 0; i < f.planes; ++i) {
    const PlaneSource& source = planes_[one ? 0 : i];
    // Each plane has its own offset and stride; only the used part of its rows follows from the
    // size.
    const auto g = known_plane_geometry(f, element, width_, height_, source.stride_bytes, i);
    regions[i] = {source.offset_bytes, g.row_bytes, g.rows, source.stride_bytes};
    if (f.kind == FormatKind::planar)
      regions[i].offset_bytes += i * static_cast<std::size_t>(layout_.stride_bytes[0]);
  }
  return f.planes;
}

bool Tensor::has_one_source() const noexcept {
  return !format_ || info(*format_).kind == FormatKind::planar;
}

bool aliases(const Tensor& a, const Tensor& b) noexcept {
  // Most pairs of tensors are separate by their buffers alone.
  if (!Tensor::may_share_memory(a, b)) return false;
  std::array<ByteRegion, 4> mine;
  std::array<ByteRegion, 4> yours;
  const std::size_t mine_count = a.byte_regions(mine);
  const std::size_t yours_count = b.byte_regions(yours);
  for (std::size_t i = 0; i < mine_count; ++i) {
    for (std::size_t k = 0; k < yours_count; ++k) {
      const Buffer& one = *a.region_source(i).buffer;
      const Buffer& other = *b.region_source(k).buffer;
      if (Tensor::share_bytes(one, mine[i], other, yours[k])) return true;
    }
  }
  return false;
}

// Whether two regions share a byte. If the buffers lie over one kernel object, offsets count from
// its begin; else the addresses in this process are compared.
bool Tensor::share_bytes(const Buffer& one, const ByteRegion& mine, const Buffer& other,
                         const ByteRegion& yours) noexcept {
  if (&one == &other) return overlaps(mine, yours);
  if (one.fd() >= 0 && other.fd() >= 0 && overlaps(mine, yours)) {
    const auto identity = one.identity();
    if (identity && identity == other.identity()) return true;
  }
  if (!share_addresses(one, other)) return false;
  const auto at = [](const Buffer& buffer, ByteRegion region) {
    region.offset_bytes += reinterpret_cast<std::uintptr_t>(buffer.address());
    return region;
  };
  return overlaps(at(one, mine), at(other, yours));
}

// Whether both are mapped in this process and their outer bounds overlap.
bool Tensor::share_addresses(const Buffer& one, const Buffer& other) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(one.address());
  const auto second = reinterpret_cast<std::uintptr_t>(other.address());
  return first != 0 && second != 0 && first < second + other.size_bytes() &&
         second < first + one.size_bytes();
}

// Whether two of their buffers are the same, or may lie over one kernel object or one memory.
bool Tensor::may_share_memory(const Tensor& a, const Tensor& b) noexcept {
  for (std::size_t i = 0; i < a.planes_.size() && a.planes_[i].buffer; ++i) {
    for (std::size_t k = 0; k < b.planes_.size() && b.planes_[k].buffer; ++k) {
      const Buffer& one = *a.planes_[i].buffer;
      const Buffer& other = *b.planes_[k].buffer;
      if (&one == &other || share_addresses(one, other) || (one.fd() >= 0 && other.fd() >= 0))
        return true;
    }
  }
  return false;
}

TensorMap& TensorMap::operator=(TensorMap&& other) noexcept {
  if (this == &other) return *this;
  layout_ = other.layout_;
  access_ = other.access_;
  base_ = std::move(other.base_);
  planes_adjacent_ = other.planes_adjacent_;
  plane_count_ = std::move(other.plane_count_);
  planes_ = other.planes_;
  maps_ = std::move(other.maps_);
  other.layout_.rank = 0;
  return *this;
}

Result<TensorMap> Tensor::map(Access access) const {
  return map_with(access, true);
}

Result<TensorMap> Tensor::map_unclaimed(Access access) const {
  return map_with(access, false);
}

Result<TensorMap> Tensor::map_with(Access access, bool claimed) const {
  Result<TensorMap> map(std::in_place);
  map->access_ = access;
  if (const Status done = map_into(*map, claimed); !done) map = done.error();
  return map;
}

Status Tensor::map_into(TensorMap& map, bool claimed) const {
  if (is_empty()) return fail(Errc::invalid_argument, "tensor: is empty, it has no bytes to map");
  if (opaque_ || !is_linear(modifier_)) {
    return fail(Errc::unsupported, "modifier: no CPU can read this arrangement of pixels", "{}",
                modifier_to_string(modifier_));
  }
  const bool writes = can_write(map.access_);
  const bool claims = claimed && writes;
  std::array<ByteRegion, 4> all;
  const std::size_t count = format_ || claims ? byte_regions(all) : 0;
  const auto regions = std::span<const ByteRegion>(all).first(count);
  std::array<std::byte*, 3> bases{};
  for (std::size_t i = 0; i < planes_.size() && planes_[i].buffer; ++i) {
    std::size_t first = 0;
    while (planes_[first].buffer != planes_[i].buffer)
      ++first;
    // Planes in one buffer share one map, and so its coherency work.
    if (first == i) {
      HALYARD_TRY(map.maps_[i], map_buffer(planes_[i].buffer, map.access_,
                                           claims ? regions : std::span<const ByteRegion>{}));
    }
    // A read-only map keeps the address for reading only; writable() prevents other use.
    bases[i] = const_cast<std::byte*>(map.maps_[first].bytes().data());
  }
  map.layout_ = layout_;
  map.base_ = bases[0] + planes_[0].offset_bytes;
  map.planes_adjacent_ = planes_adjacent();
  if (!format_) return {};
  map.plane_count_ = count;
  const bool one = has_one_source();
  for (std::size_t i = 0; i < count; ++i) {
    const ByteRegion& r = regions[i];
    std::byte* data = bases[one ? 0 : i] + r.offset_bytes;
    map.planes_[i] = {data, writes ? data : nullptr, r.stride_bytes, r.row_bytes, r.rows};
  }
  return {};
}

Result<Map> Tensor::map_buffer(const std::shared_ptr<Buffer>& buffer, Access access,
                               std::span<const ByteRegion> claimed) const {
  // A tensor without elements writes nothing.
  if (claimed.size() < 2) return Buffer::map_shared(buffer, access, claimed, !claimed.empty());
  std::array<ByteRegion, 4> here;
  std::size_t count = 0;
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    if (region_source(i).buffer == buffer) here[count++] = claimed[i];
  }
  return Buffer::map_shared(buffer, access, std::span(here).first(count), count > 0);
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
    return fail(Errc::unsupported, "view: the image's planes do not follow one another");
  }
  return check_alignment();
}

Status TensorMap::check_alignment() const {
  const std::size_t element = size_of(layout_.dtype);
  if (reinterpret_cast<std::uintptr_t>(base_.get()) % element != 0) {
    return fail(Errc::invalid_argument, "view: the elements do not lie at multiples of their size",
                "{} at an address ending in {:#x}", to_string(layout_.dtype),
                reinterpret_cast<std::uintptr_t>(base_.get()) % 16);
  }
  for (std::size_t axis = 0; axis < layout_.rank; ++axis) {
    if (layout_.stride_bytes[axis] % static_cast<std::ptrdiff_t>(element) != 0) {
      return fail(Errc::invalid_argument, "view: strides must be multiples of the element size",
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
