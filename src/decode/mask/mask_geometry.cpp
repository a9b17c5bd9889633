// SPDX-License-Identifier: Apache-2.0
// Rounds boxes and makes sampling tables, once per box and axis. Uses double, except where other
// programs crop with the same numbers in single precision.
#include "decode/mask/mask_geometry.h"

#include <algorithm>
#include <cmath>

namespace halyard::decode {
namespace {

// floor, ceil and so on of a value that can exceed the range of integers.
std::int32_t clamped(double value, std::int32_t low, std::int32_t high) noexcept {
  return static_cast<std::int32_t>(
      std::clamp(value, static_cast<double>(low), static_cast<double>(high)));
}

// Existing whole pixels p with low <= p < high.
PixelRange covered(double low, double high, std::int32_t extent) noexcept {
  return {clamped(std::ceil(low), 0, extent), clamped(std::ceil(high), 0, extent)};
}

std::int32_t whole(double value) noexcept {
  return static_cast<std::int32_t>(value);
}

}  // namespace

void AxisSamples::prepare(const AxisMap& wanted) {
  if (wanted == map && !low.empty()) return;
  map = {};  // remains so if the tables cannot be allocated
  const auto count = static_cast<std::size_t>(wanted.target);
  low.resize(count + padding);
  low_weight.resize(count + padding);
  high_weight.resize(count + padding);
  const double last = wanted.source - 1;
  for (std::size_t i = 0; i < count; ++i) {
    const double at =
        std::clamp(wanted.offset + (static_cast<double>(i) + 0.5) * wanted.step - 0.5, 0.0, last);
    const double floor = std::floor(at);
    low[i] = whole(floor);
    high_weight[i] = static_cast<float>(at - floor);
    low_weight[i] = 1 - high_weight[i];
  }
  for (std::size_t i = count; i < count + padding; ++i) {
    low[i] = low[count - 1];
    high_weight[i] = high_weight[count - 1];
    low_weight[i] = low_weight[count - 1];
  }
  map = wanted;
}

PixelRange AxisSamples::source_of(PixelRange target) const noexcept {
  const auto last = static_cast<std::size_t>(target.end - 1);
  return {low[static_cast<std::size_t>(target.begin)], low[last] + (high_weight[last] > 0 ? 2 : 1)};
}

PixelRange prototype_span(const AxisBox& box) noexcept {
  // Uses float, as programs that crop do. For a box just above the edge of a cell, a double product
  // would include one more cell than the float product.
  const float scale = static_cast<float>(box.grid) / static_cast<float>(box.input);
  const float low = static_cast<float>(box.low) * scale;
  const float high = static_cast<float>(box.high) * scale;
  const auto begin = clamped(std::floor(low), 0, box.grid - 1);
  const auto end = clamped(std::ceil(high), begin + 1, box.grid);
  return {begin, end};
}

PixelRange quick_span(const AxisBox& box) noexcept {
  const double scale = box.grid / box.input;
  return covered(box.low * scale, box.high * scale, box.grid);
}

PixelRange input_span(const AxisBox& box) noexcept {
  return covered(box.low, box.high, whole(box.input));
}

PixelRange target_span(const AxisBox& box, std::int32_t target) noexcept {
  // Clips to the input first: there are no pixels beyond it.
  const double low = std::clamp(box.low, 0.0, box.input);
  const double high = std::clamp(box.high, 0.0, box.input);
  const double scale = target / box.content_size;
  const auto begin = clamped(std::round((low - box.content) * scale), 0, target - 1);
  const auto end = clamped(std::round((high - box.content) * scale), begin + 1, target);
  return {begin, end};
}

PixelRange touched_span(const AxisSamples& samples, PixelRange source) noexcept {
  if (source.is_empty()) return {};
  const auto* first = samples.low.data();
  const auto* last = first + samples.map.target;
  // Wanted: low < end, and low + 1 >= begin with a weight. `low` ascends with the pixel.
  const auto* begin = std::lower_bound(first, last, source.begin - 1);
  const auto* end = std::lower_bound(begin, last, source.end);
  while (begin < end && *begin < source.begin && samples.high_weight[begin - first] == 0)
    ++begin;
  return {static_cast<std::int32_t>(begin - first), static_cast<std::int32_t>(end - first)};
}

PixelRange inner_span(const AxisSamples& samples, PixelRange source) noexcept {
  if (source.is_empty()) return {};
  const auto* first = samples.low.data();
  const auto* last = first + samples.map.target;
  const auto* begin = std::lower_bound(first, last, source.begin);
  const auto* end = std::lower_bound(begin, last, source.end);
  while (end > begin && end[-1] == source.end - 1 && samples.high_weight[end - 1 - first] > 0)
    --end;
  return {static_cast<std::int32_t>(begin - first), static_cast<std::int32_t>(end - first)};
}

}  // namespace halyard::decode
