// SPDX-License-Identifier: Apache-2.0
// Survivors by size and place, so that a candidate meets only those that it can overlap enough.
//
// An IoU above t bounds two things on each axis: extents differ by less than a factor of t, and the
// centres by less than (1 - t) / (1 + t) of the mean extent. So survivors lie in levels of extents,
// a factor of four apart on each axis; each level is a grid whose cells are as large as its largest
// boxes. A candidate looks at few levels and, in each, at few cells. Survivors of a class overlap
// little, so a cell holds a number of them that t bounds.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace halyard::decode {

/// How far two boxes may differ that overlap enough to matter, on each axis.
struct Reach {
  double ratio = 0;     ///< the smaller extent is more than this times the larger
  double distance = 1;  ///< the centres are closer than this times the mean of the extents
};

/// Where a box is; all finite, extents above 0.
struct Place {
  double cx = 0;
  double cy = 0;
  double width = 0;
  double height = 0;
  std::int32_t label = 0;
};

/// Collisions of its hash only show a candidate more survivors than needed.
template <class Payload>
class Neighbours {
 public:
  /// Empties it; `most` boxes will be added at most.
  void start(std::size_t most, Reach reach) {
    heads_.assign(std::bit_ceil(2 * most + 1), nobody);
    nodes_.clear();
    nodes_.reserve(most);
    levels_.clear();
    // What rounding may add to a measured overlap.
    reach_ = {reach.ratio * (1 - slack), reach.distance * (1 + slack)};
  }

  /// False when the boxes are of too many sizes: it is of no use from then on.
  bool add(const Place& place, const Payload& payload) {
    const int x = level_of(place.width);
    const int y = level_of(place.height);
    const auto known = std::find_if(levels_.begin(), levels_.end(), [&](const Level& level) {
      return level.x.number == x && level.y.number == y;
    });
    const auto index = static_cast<std::size_t>(known - levels_.begin());
    if (known == levels_.end()) {
      if (levels_.size() == most_levels) return false;
      levels_.push_back({Axis(x), Axis(y)});
    }
    const Level& level = levels_[index];
    std::uint32_t& head = heads_[slot(index, place.label, cell(place.cx * level.x.per_cell),
                                      cell(place.cy * level.y.per_cell))];
    nodes_.push_back({payload, head});
    head = static_cast<std::uint32_t>(nodes_.size() - 1);
    return true;
  }

  /// Whether `test` holds for a box within reach; nothing when that would take a look into more
  /// than `budget` cells.
  template <class Test>
  std::optional<bool> any(const Place& place, std::size_t budget, Test test) const {
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const Cells x = cells(levels_[i].x, place.cx, place.width);
      const Cells y = cells(levels_[i].y, place.cy, place.height);
      if (x.last < x.first || y.last < y.first) continue;
      const auto wide = static_cast<std::size_t>(x.last - x.first + 1);
      const auto high = static_cast<std::size_t>(y.last - y.first + 1);
      if (wide > budget || high > budget || wide * high > budget) return std::nullopt;
      budget -= wide * high;
      for (std::int64_t row = y.first; row <= y.last; ++row) {
        for (std::int64_t column = x.first; column <= x.last; ++column) {
          std::uint32_t at = heads_[slot(i, place.label, column, row)];
          for (; at != nobody; at = nodes_[at].next) {
            if (test(nodes_[at].payload)) return true;
          }
        }
      }
    }
    return false;
  }

 private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  static constexpr double slack = 1e-4;
  static constexpr std::size_t most_levels = 64;

  struct Node {
    Payload payload;
    std::uint32_t next;
  };
  // Extents of [cell / 4, cell).
  struct Axis {
    explicit Axis(int n)
        : number(n), cell(std::ldexp(1.0, 2 * n + 2)), per_cell(std::ldexp(1.0, -2 * n - 2)) {}
    int number;
    double cell;
    double per_cell;
  };
  struct Level {
    Axis x, y;
  };
  struct Cells {
    std::int64_t first = 0;
    std::int64_t last = -1;
  };

  // Half the binary exponent, downwards.
  static int level_of(double extent) noexcept {
    const auto exponent = static_cast<int>(std::bit_cast<std::uint64_t>(extent) >> 52) - 1023;
    return exponent >> 1;
  }

  // Rounded down. Beyond 2^40 cells from the origin all are one.
  static std::int64_t cell(double at) noexcept {
    constexpr double end = 1099511627776.0;
    const double inside = std::clamp(at, -end, end);
    const auto whole = static_cast<std::int64_t>(inside);
    return whole - (static_cast<double>(whole) > inside ? 1 : 0);
  }

  Cells cells(const Axis& axis, double centre, double extent) const noexcept {
    // Extents there that are near enough to this one.
    double largest = axis.cell;
    if (reach_.ratio > 0) largest = std::min(largest, extent / reach_.ratio);
    if (largest * 4 < axis.cell || axis.cell < extent * reach_.ratio) return {};
    const double distance = reach_.distance * 0.5 * (extent + largest);
    return {cell((centre - distance) * axis.per_cell), cell((centre + distance) * axis.per_cell)};
  }

  std::size_t slot(std::size_t level, std::int32_t label, std::int64_t x,
                   std::int64_t y) const noexcept {
    std::uint64_t hash = static_cast<std::uint64_t>(x) * 0x9E3779B97F4A7C15ULL;
    hash = (hash ^ (hash >> 29) ^ static_cast<std::uint64_t>(y)) * 0xBF58476D1CE4E5B9ULL;
    hash = (hash ^ (hash >> 32) ^ (level << 32) ^ static_cast<std::uint32_t>(label)) *
           0x94D049BB133111EBULL;
    return static_cast<std::size_t>(hash >> 20) & (heads_.size() - 1);
  }

  Reach reach_;
  std::vector<std::uint32_t> heads_;
  std::vector<Node> nodes_;
  std::vector<Level> levels_;
};

}  // namespace halyard::decode
