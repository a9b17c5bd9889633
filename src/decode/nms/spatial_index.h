// SPDX-License-Identifier: Apache-2.0
// Index of survivors by size and position: a candidate is tested only against survivors that it can
// overlap enough.
//
// An IoU above t bounds two values on each axis: the extents differ by a factor of less than 1 / t,
// and the distance of the centres is below (1 - t) / (1 + t) times the mean extent. Survivors are
// sorted into levels of extents, a factor of four apart on each axis. Each level is a grid whose
// cells are as large as its largest boxes. A candidate visits few levels and few cells of each.
// Survivors of a class overlap little, so t bounds the number of survivors in a cell.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace halyard::decode {

/// How much two boxes can differ on each axis and still overlap enough.
struct SearchRadius {
  double ratio = 0;     ///< the smaller extent is more than this times the larger one
  double distance = 1;  ///< the centres are closer than this times the mean extent
};

/// Position and size of a box. All values are finite, the extents above 0.
struct Place {
  double cx = 0;
  double cy = 0;
  double width = 0;
  double height = 0;
  std::int32_t label = 0;
};

/// Hash collisions only cause more tests than needed.
template <class Payload>
class SpatialIndex {
 public:
  /// Empties the index. At most `maximum` boxes may be added.
  void start(std::size_t maximum, SearchRadius reach) {
    const std::size_t slots = std::bit_ceil(2 * maximum + 2);
    shift_ = std::countl_zero(slots - 1);
    heads_.assign(slots, nobody);
    nodes_.clear();
    nodes_.reserve(maximum);
    present_ = {};
    x_ = {};
    y_ = {};
    // A margin for rounding of the measured overlap.
    reach_ = {reach.ratio * (1 - slack), reach.distance * (1 + slack)};
  }

  void add(const Place& place, const Payload& payload) {
    const int x = level_of(place.width);
    const int y = level_of(place.height);
    x_.include(x);
    y_.include(y);
    present_[static_cast<std::size_t>(x)].set(static_cast<std::size_t>(y));
    std::uint32_t& head =
        heads_[slot(level_hash(x, y, place.label) + cell(place.cx * per_cell(x)) * column_factor +
                    cell(place.cy * per_cell(y)) * row_factor)];
    nodes_.push_back({payload, head});
    head = static_cast<std::uint32_t>(nodes_.size() - 1);
  }

  /// Whether `test` is true for a box within reach. Empty if that needs more than `budget` cells
  /// and levels.
  template <class Test>
  std::optional<bool> any(const Place& place, std::size_t budget, Test test) const {
    const Levels xs = levels(x_, place.width);
    const Levels ys = levels(y_, place.height);
    for (int x = xs.first; x <= xs.last; ++x) {
      const Cells columns = cells(x, place.cx, place.width);
      for (int y = ys.first; y <= ys.last; ++y) {
        if (budget == 0) return std::nullopt;
        --budget;
        if (!present_[static_cast<std::size_t>(x)][static_cast<std::size_t>(y)]) continue;
        const Cells rows = cells(y, place.cy, place.height);
        if (columns.count > budget || rows.count > budget || columns.count * rows.count > budget)
          return std::nullopt;
        budget -= columns.count * rows.count;
        if (any_in(columns, rows, level_hash(x, y, place.label), test)) return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  static constexpr double slack = 1e-4;
  // Odd numbers without a pattern. Multiples of them are added; the upper bits select the slot.
  static constexpr std::uint64_t column_factor = 0x9E3779B97F4A7C15ULL;
  static constexpr std::uint64_t row_factor = 0xC2B2AE3D27D4EB4FULL;
  static constexpr std::uint64_t level_factor = 0x94D049BB133111EBULL;
  static constexpr std::uint64_t label_factor = 0xD6E8FEB86659FD93ULL;

  // Level n holds extents in [4^(n - levels_below), 4 times that). These levels cover all extents
  // of floats and of Gaussians made from floats.
  static constexpr int level_count = 256;
  static constexpr int levels_below = 128;

  struct Node {
    Payload payload;
    std::uint32_t next;
  };
  struct Levels {
    int first = level_count;
    int last = -1;
    void include(int level) noexcept {
      first = std::min(first, level);
      last = std::max(last, level);
    }
  };
  struct Cells {
    std::uint64_t first = 0;
    std::size_t count = 0;
  };

  static int level_of(double extent) noexcept {
    const auto exponent = static_cast<int>(std::bit_cast<std::uint64_t>(extent) >> 52) - 1023;
    return std::clamp((exponent >> 1) + levels_below, 0, level_count - 1);
  }
  // 4^(level + 1 - levels_below), and its inverse.
  static double cell_size(int level) noexcept {
    return std::bit_cast<double>(static_cast<std::uint64_t>(2 * (level + 1 - levels_below) + 1023)
                                 << 52);
  }
  static double per_cell(int level) noexcept {
    return std::bit_cast<double>(static_cast<std::uint64_t>(2 * (levels_below - level - 1) + 1023)
                                 << 52);
  }

  // Rounds down. Beyond 2^40 cells from the origin all positions share one cell.
  static std::uint64_t cell(double at) noexcept {
    constexpr double end = 1099511627776.0;
    const double inside = std::clamp(at, -end, end);
    const auto whole = static_cast<std::int64_t>(inside);
    return static_cast<std::uint64_t>(whole - (static_cast<double>(whole) > inside ? 1 : 0));
  }

  // Levels that are present and whose extents are similar enough to `extent`.
  Levels levels(Levels present, double extent) const noexcept {
    if (!(reach_.ratio > 0)) return present;
    return {std::max(present.first, level_of(extent * reach_.ratio)),
            std::min(present.last, level_of(extent / reach_.ratio))};
  }

  Cells cells(int level, double centre, double extent) const noexcept {
    double largest = cell_size(level);
    if (reach_.ratio > 0) largest = std::min(largest, extent / reach_.ratio);
    const double distance = reach_.distance * 0.5 * (extent + largest);
    const std::uint64_t first = cell((centre - distance) * per_cell(level));
    const std::uint64_t last = cell((centre + distance) * per_cell(level));
    return {first, static_cast<std::size_t>(last - first + 1)};
  }

  static std::uint64_t level_hash(int x, int y, std::int32_t label) noexcept {
    return static_cast<std::uint64_t>(x * level_count + y) * level_factor +
           static_cast<std::uint32_t>(label) * label_factor;
  }
  std::size_t slot(std::uint64_t hash) const noexcept {
    return static_cast<std::size_t>(hash >> shift_);
  }

  template <class Test>
  bool any_in(Cells columns, Cells rows, std::uint64_t hash, Test test) const {
    hash += columns.first * column_factor + rows.first * row_factor;
    for (std::size_t row = 0; row < rows.count; ++row, hash += row_factor) {
      std::uint64_t here = hash;
      for (std::size_t column = 0; column < columns.count; ++column, here += column_factor) {
        for (std::uint32_t at = heads_[slot(here)]; at != nobody; at = nodes_[at].next) {
          if (test(nodes_[at].payload)) return true;
        }
      }
    }
    return false;
  }

  SearchRadius reach_;
  int shift_ = 63;
  std::vector<std::uint32_t> heads_;
  std::vector<Node> nodes_;
  std::array<std::bitset<level_count>, level_count> present_;  // [x][y]
  Levels x_, y_;
};

}  // namespace halyard::decode
