// SPDX-License-Identifier: Apache-2.0
// Greedy merging of boxes, with the memory that it keeps from call to call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/tile/tile_merge_index.h"
#include "halyard/tile_merge.h"

namespace halyard::decode {

/// Most detections of a frame: more are a mistake, and their places are 32 bits.
inline constexpr std::size_t max_detections = std::size_t{1} << 24;

/// Thread-bound.
class Merger {
 public:
  /// A box that stays, and the place in the input of the best detection in it.
  struct Kept {
    std::uint64_t rank = 0;  ///< ascends from the best
    Box box;
    std::uint32_t place = 0;
    std::uint32_t stay = 0;  ///< what parts_of() goes by
  };
  /// A box that another was drawn around.
  struct Part {
    std::uint32_t stay = 0;   ///< Kept::stay of the other
    std::uint32_t order = 0;  ///< ascends from the best
    std::uint32_t place = 0;  ///< in the input
  };
  /// `detections`: admitted, at most max_detections. Equal ones go by their origins, one each,
  /// where given. Best first; good until the next call.
  std::span<const Kept> merge(std::span<const Detection> detections,
                              std::span<const TileOrigin> origins, const MergeOptions& options);

  /// All but the best that the box is drawn around, best first; good until the next merge().
  std::span<const Part> parts_of(const Kept& kept) const noexcept;

 private:
  struct Key {
    std::uint64_t rank = 0;
    std::uint32_t group = 0;  ///< one for each label that is apart from the others
    std::uint32_t place = 0;
  };
  struct Order;

  void merge_group(std::span<const Key> group, std::span<const Detection> detections,
                   const MergeOptions& options);

  std::vector<Key> keys_;
  std::vector<Box> boxes_;  // of one group, best first
  std::vector<double> areas_;
  std::vector<std::uint32_t> stays_;  // box of the group that stays -> its place in kept_
  std::vector<Kept> kept_;
  std::vector<Part> parts_;  // by stay, then order
  BoxIndex index_;
};

}  // namespace halyard::decode
