// SPDX-License-Identifier: Apache-2.0
// Which of the boxes that stay overlap a box: a packed tree of their bounds, filled as they come.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "halyard/geometry.h"

namespace halyard::decode {

/// The tree's shape is that of all boxes that may come, sorted along a curve; only those inserted
/// count. Nodes hold `fan` entries as columns, so that one test of a node is a few vector
/// instructions. Whatever the shape, answers are exact: it costs time only.
class BoxIndex {
 public:
  static constexpr std::size_t fan = 16;

  /// Forgets all and makes room for these boxes, none of them inserted. Finite coordinates.
  void reset(std::span<const Box> boxes);

  /// `item` is the place of a box in reset()'s list, and above all that were inserted before.
  void insert(std::uint32_t item, const Box& box) noexcept;

  /// Calls matches(item) for inserted boxes that share some area with the box, and returns the
  /// lowest item for which it was true; `none` without one. With `any` the first one found.
  template <class Matches>
  std::uint32_t find(const Box& box, bool any, Matches&& matches) const {
    std::uint32_t best = none;
    visit(levels_ - 1, 0, box, any, best, matches);
    return best;
  }
  static constexpr std::uint32_t none = ~std::uint32_t{0};

 private:
  struct Node {
    std::array<float, fan> x1, y1, x2, y2;
    std::array<std::uint32_t, fan> first;  ///< lowest item below; `none`: empty
  };

  // One byte an entry: does it overlap, and may it lower `best`?
  static std::array<std::uint8_t, fan> overlapping(const Node& node, const Box& box,
                                                   std::uint32_t best) noexcept {
    std::array<std::uint8_t, fan> hit;
    for (std::size_t i = 0; i < fan; ++i) {
      hit[i] = static_cast<std::uint8_t>((node.x1[i] < box.x2) & (node.x2[i] > box.x1) &
                                         (node.y1[i] < box.y2) & (node.y2[i] > box.y1) &
                                         (node.first[i] < best));
    }
    return hit;
  }

  template <class Matches>
  void visit(std::size_t level, std::size_t number, const Box& box, bool any, std::uint32_t& best,
             Matches& matches) const {
    const Node& node = nodes_[begins_[level] + number];
    const auto hit = overlapping(node, box, best);
    for (std::size_t i = 0; i < fan; ++i) {
      if (hit[i] == 0 || node.first[i] >= best) continue;
      if (level == 0) {
        if (matches(node.first[i])) best = node.first[i];
      } else {
        visit(level - 1, number * fan + i, box, any, best, matches);
      }
      if (any && best != none) return;
    }
  }

  void order(std::span<const Box> boxes);

  std::vector<std::uint64_t> keys_;      // place on the curve, then item
  std::vector<std::uint32_t> slots_;     // of each item
  std::vector<Node> nodes_;              // leaves first
  std::array<std::size_t, 9> begins_{};  // of each level; 16^8 items are enough for 32 bits
  std::size_t levels_ = 0;
};

}  // namespace halyard::decode
