// SPDX-License-Identifier: Apache-2.0
// Walks the outline in fifths of a pixel and collects the columns that it crosses. Masks are never
// unpacked to pixels.
#include "evaluate/coco_polygon.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace halyard::evaluate {
namespace {

constexpr double steps_per_pixel = 5;
constexpr double max_steps = 1 << 24;  // of one outline

struct Step {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

/// Walks a closed outline in steps of a fifth of a pixel. Collects the positions, counted down the
/// columns, at which it crosses the middle of a pixel column.
class Outline {
 public:
  explicit Outline(Size size) : size_(size) {}

  /// Visits all steps of the edge in order, both ends included.
  void edge(Step from, Step to) {
    const std::int64_t wide = std::abs(to.x - from.x);
    const std::int64_t high = std::abs(to.y - from.y);
    const bool is_flat = wide >= high;
    // Slopes are taken from the lower end, so that an edge and its reverse have the same points.
    const bool turns = is_flat ? from.x > to.x : from.y > to.y;
    if (turns) std::swap(from, to);
    const std::int64_t length = std::max(wide, high);
    const double slope = length == 0
                             ? 0
                             : static_cast<double>(is_flat ? to.y - from.y : to.x - from.x) /
                                   static_cast<double>(length);
    for (std::int64_t i = 0; i <= length; ++i) {
      const std::int64_t t = turns ? length - i : i;
      const double across =
          static_cast<double>(is_flat ? from.y : from.x) + slope * static_cast<double>(t);
      const auto rounded = static_cast<std::int64_t>(across + 0.5);
      visit(is_flat ? Step{from.x + t, rounded} : Step{rounded, from.y + t});
    }
  }

  std::vector<std::uint64_t>& crossings() { return crossings_; }

 private:
  void visit(Step step) {
    const Step before = std::exchange(last_, step);
    if (!std::exchange(has_last_, true) || step.x == before.x) return;
    const auto left = static_cast<double>(step.x < before.x ? step.x : step.x - 1);
    const double column = (left + 0.5) / steps_per_pixel - 0.5;
    if (std::floor(column) != column || column < 0 || column > size_.width - 1) return;
    const auto top = static_cast<double>(std::min(step.y, before.y));
    const double row = std::ceil(
        std::clamp((top + 0.5) / steps_per_pixel - 0.5, 0.0, static_cast<double>(size_.height)));
    crossings_.push_back(static_cast<std::uint64_t>(column) *
                             static_cast<std::uint64_t>(size_.height) +
                         static_cast<std::uint64_t>(row));
  }

  Size size_;
  Step last_;
  bool has_last_ = false;
  std::vector<std::uint64_t> crossings_;
};

// Runs between the positions at which pixels switch on or off. Two at the same position cancel.
std::vector<std::uint32_t> runs_between(std::vector<std::uint64_t>& places, std::uint64_t end) {
  std::sort(places.begin(), places.end());
  std::vector<std::uint32_t> runs;
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < places.size();) {
    std::size_t same = i;
    while (same < places.size() && places[same] == places[i])
      ++same;
    if ((same - i) % 2 != 0 && places[i] < end) {
      runs.push_back(static_cast<std::uint32_t>(places[i] - begin));
      begin = places[i];
    }
    i = same;
  }
  runs.push_back(static_cast<std::uint32_t>(end - begin));
  return runs;
}

}  // namespace

std::optional<Rle> coco_polygon(std::span<const double> points, Size size) {
  const std::size_t count = points.size() / 2;
  double length = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t next = (i + 1) % count;
    length += 1 + steps_per_pixel * std::max(std::abs(points[2 * next] - points[2 * i]),
                                             std::abs(points[2 * next + 1] - points[2 * i + 1]));
    if (!(std::abs(points[2 * i]) < max_steps && std::abs(points[2 * i + 1]) < max_steps))
      return std::nullopt;
  }
  if (count < 3 || !(length < max_steps)) return std::nullopt;
  const auto step = [&](std::size_t i) {
    // Truncated towards zero, as COCO's own masks are.
    return Step{static_cast<std::int64_t>(steps_per_pixel * points[2 * i] + 0.5),
                static_cast<std::int64_t>(steps_per_pixel * points[2 * i + 1] + 0.5)};
  };
  Outline outline(size);
  for (std::size_t i = 0; i < count; ++i)
    outline.edge(step(i), step((i + 1) % count));
  const auto pixels =
      static_cast<std::uint64_t>(size.width) * static_cast<std::uint64_t>(size.height);
  return Rle{size, runs_between(outline.crossings(), pixels)};
}

}  // namespace halyard::evaluate
