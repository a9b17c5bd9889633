// SPDX-License-Identifier: Apache-2.0
// Finds the kept boxes that overlap a box: a packed tree of bounds, filled step by step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "halyard/geometry.h"

namespace halyard::decode {

/// The shape of the tree is that of all possible boxes, sorted along a curve; only inserted boxes
/// are found. Nodes hold `fan` entries as columns, so testing a node needs few vector instructions.
/// Results are exact for any shape; the shape only affects speed.
class BoxIndex {
 public:
  static constexpr std::size_t fan = 16;

  /// Removes all items and reserves space for these boxes, without inserting them. Coordinates must
  /// be finite.
  void reset(std::span<const Box> boxes);

  /// `item` is the index of a box in reset()'s list, above all items inserted before.
  void insert(std::uint32_t item, const Box& box) noexcept;

  /// Calls matches(item) for inserted boxes that share an area with the box. Returns the lowest
  /// item for which it was true, or `none`. With `any`, returns the first one found.
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
    std::array<std::uint32_t, fan> first;  ///< lowest item below this entry; `none`: empty
  };

  // One byte per entry: whether it overlaps and can lower `best`.
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

  std::vector<std::uint64_t> keys_;      // position on the curve, then item
  std::vector<std::uint32_t> slots_;     // per item
  std::vector<Node> nodes_;              // leaves first
  std::array<std::size_t, 9> begins_{};  // per level; 16^8 items are enough for 32 bits
  std::size_t levels_ = 0;
};

}  // namespace halyard::decode
