// SPDX-License-Identifier: Apache-2.0
// Parts of arrays: some indices of some axes, over the same bytes. Parts of images: tensor_views.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/text/format_error.h"
#include "halyard/tensor.h"

namespace halyard {
namespace {

// Whether the range takes a whole axis in its order.
bool is_whole(const AxisRange& range, std::size_t extent) noexcept {
  return range.keeps_axis && range.start == 0 && range.count == extent &&
         (range.step == 1 || extent == 1);
}

bool are_whole(const Layout& layout, std::span<const AxisRange> ranges, std::size_t first) {
  for (std::size_t axis = first; axis < ranges.size(); ++axis)
    if (!is_whole(ranges[axis], layout.shape[axis])) return false;
  return true;
}

Status check_range(const AxisRange& range, std::size_t extent, std::size_t axis) {
  const std::size_t count = range.keeps_axis ? range.count : 1;
  const bool begins_inside = range.start < extent || (count == 0 && range.start <= extent);
  bool fits = begins_inside;
  if (begins_inside && count > 1) {
    // How many steps fit, computed without a product that could overflow.
    const std::size_t room = range.step < 0 ? range.start : extent - 1 - range.start;
    const std::size_t step = range.step < 0 ? -static_cast<std::size_t>(range.step)
                                            : static_cast<std::size_t>(range.step);
    fits = step != 0 && (count - 1) <= room / step;
  }
  if (fits) return {};
  return fail(Errc::invalid_argument, "part: indices out of range",
              "axis {}: {} indices from {} by {}, its extent is {}", axis, count, range.start,
              range.step, extent);
}

// The scales of the selected indices, along the new position of their axis.
std::optional<Quantization> sliced_quantization(const Quantization& whole,
                                                std::span<const AxisRange> ranges) {
  if (!whole.axis) return whole;
  const std::size_t axis = *whole.axis;
  std::size_t gone = 0;
  for (std::size_t i = 0; i < std::min(axis, ranges.size()); ++i)
    gone += ranges[i].keeps_axis ? 0 : 1;
  Quantization part = whole;
  part.axis = axis - gone;
  if (axis >= ranges.size()) return part;
  const AxisRange& range = ranges[axis];
  if (!range.keeps_axis || range.count == 1)
    return Quantization::per_tensor(whole.scale_at(range.start), whole.zero_point_at(range.start));
  part.scale.resize(range.count);
  if (!part.zero_point.empty()) part.zero_point.resize(range.count);
  auto index = static_cast<std::ptrdiff_t>(range.start);
  for (std::size_t i = 0; i < range.count; ++i, index += range.step) {
    part.scale[i] = whole.scale_at(static_cast<std::size_t>(index));
    if (!part.zero_point.empty())
      part.zero_point[i] = whole.zero_point_at(static_cast<std::size_t>(index));
  }
  return part;
}

}  // namespace

Status Tensor::check_ranges(std::span<const AxisRange> ranges) const {
  if (format_) {
    return fail(Errc::invalid_argument, "part: an image has no axes to choose from; see slice()",
                "{}", to_string(*format_));
  }
  if (is_empty()) return fail(Errc::invalid_argument, "tensor: is empty");
  if (ranges.size() > rank()) {
    return fail(Errc::invalid_argument, "part: more ranges than axes", "{}, rank {}", ranges.size(),
                rank());
  }
  for (std::size_t axis = 0; axis < ranges.size(); ++axis)
    HALYARD_RETURN_IF_ERROR(check_range(ranges[axis], layout_.shape[axis], axis));
  return {};
}

// Bytes from the first element of `part` on that belong to no other element.
std::optional<std::size_t> Tensor::capacity_of(const Layout& part,
                                               std::span<const AxisRange> ranges) const noexcept {
  if (are_whole(layout_, ranges, 0)) return capacity_bytes_;
  const std::size_t own = part.is_contiguous() ? part.size_bytes() : 0;
  const AxisRange& first = ranges[0];
  const std::size_t count = first.keeps_axis ? first.count : 1;
  if (!are_whole(layout_, ranges, 1) || (first.step != 1 && count != 1)) return own;
  // Whole elements of the outermost axis, one after the other, with the padding after each.
  const std::ptrdiff_t stride = layout_.stride_bytes[0];
  const auto pitch = static_cast<std::size_t>(std::abs(stride));
  if (stride < 0 && count != 1) return 0;
  if (capacity_bytes_ == 0U) return std::min(own, count * pitch);
  const std::size_t pitches = count * pitch;
  if (!capacity_bytes_ || stride < 0) return pitches;
  const std::size_t before = first.start * pitch;
  return std::min(pitches, *capacity_bytes_ - std::min(before, *capacity_bytes_));
}

Result<Tensor> Tensor::part(std::span<const AxisRange> ranges) const {
  HALYARD_RETURN_IF_ERROR(check_ranges(ranges));
  Tensor part = *this;
  Layout& layout = part.layout_;
  layout.rank = 0;
  auto offset = static_cast<std::ptrdiff_t>(planes_[0].offset_bytes);
  for (std::size_t axis = 0; axis < rank(); ++axis) {
    const std::ptrdiff_t stride = layout_.stride_bytes[axis];
    const AxisRange range =
        axis < ranges.size() ? ranges[axis] : AxisRange::all(layout_.shape[axis]);
    offset += static_cast<std::ptrdiff_t>(range.start) * stride;
    if (!range.keeps_axis) continue;
    layout.shape[layout.rank] = range.count;
    layout.stride_bytes[layout.rank++] = range.count > 1 ? stride * range.step : stride;
  }
  if (layout.rank == 0) {
    return fail(Errc::invalid_argument, "part: one element is left, at least one axis must stay");
  }
  std::fill(layout.shape.begin() + layout.rank, layout.shape.end(), 0);
  std::fill(layout.stride_bytes.begin() + layout.rank, layout.stride_bytes.end(), 0);
  if (layout.element_count() == 0 && element_count() != 0) {
    return fail(Errc::invalid_argument, "part: no elements are left");
  }
  part.planes_[0].offset_bytes = static_cast<std::size_t>(offset);
  part.capacity_bytes_ = capacity_of(layout, ranges);
  if (quantization_) part.quantization_ = sliced_quantization(*quantization_, ranges);
  if (!item_format_ || ranges.empty()) return part;
  // Items are images as long as they are whole.
  part.item_format_.reset();
  if (!are_whole(layout_, ranges, 1)) return part;
  if (!ranges[0].keeps_axis) return part.with_format(*item_format_);
  part.item_format_ = item_format_;
  return part;
}

Result<Tensor> Tensor::batch(std::size_t n) const {
  if (format_) {
    return fail(Errc::invalid_argument, "batch: a single image has no batch axis", "{}",
                to_string(*format_));
  }
  if (rank() < 2) {
    return fail(Errc::invalid_argument, "batch: the tensor needs two axes or more", "rank {}",
                rank());
  }
  if (n >= layout_.shape[0]) {
    return fail(Errc::invalid_argument, "batch: index out of range", "{} of {}", n,
                layout_.shape[0]);
  }
  const AxisRange range = AxisRange::index(n);
  return part({&range, 1});
}

}  // namespace halyard
