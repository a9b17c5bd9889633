// SPDX-License-Identifier: Apache-2.0
// Greedy merging of boxes, with memory that is kept between calls, and its rules: checks of
// options, admission of detections, the measure of overlap.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/tile/tile_merge_index.h"
#include "halyard/tile_merge.h"

namespace halyard::decode {

/// Max detections of a frame. More are an error, and indices must fit 32 bits.
inline constexpr std::size_t max_detections = std::size_t{1} << 24;

Status check_merge_options(const MergeOptions& options);

/// Whether the detection takes part. Sorts the corners of its box and replaces -0 by 0.
bool admit(Detection& detection, const MergeOptions& options) noexcept;

/// The metric for two boxes with these areas. 0 if they share no area.
float measure(MergeMetric metric, const Box& a, double area_a, const Box& b,
              double area_b) noexcept;

/// merge_detections() for options that are already checked; a threshold above 1 merges nothing.
/// Errors: invalid_argument (more than max_detections).
Result<std::vector<Detection>> merge_checked(std::span<const Detection> detections,
                                             const MergeOptions& options);

/// For one thread at a time.
class Merger {
 public:
  /// A box that is kept, and the index in the input of its best detection.
  struct Kept {
    std::uint64_t rank = 0;  ///< ascends from the best
    Box box;
    std::uint32_t place = 0;
    std::uint32_t stay = 0;  ///< key for parts_of()
  };
  /// A detection whose box was united with a kept box.
  struct Part {
    std::uint32_t stay = 0;   ///< Kept::stay of the kept box
    std::uint32_t order = 0;  ///< ascends from the best
    std::uint32_t place = 0;  ///< in the input
  };
  /// `detections`: admitted, at most max_detections. `origins`: empty or one each; orders equal
  /// detections. Returns the kept boxes, best first. Valid until the next call.
  std::span<const Kept> merge(std::span<const Detection> detections,
                              std::span<const TileOrigin> origins, const MergeOptions& options);

  /// The detections that were united with the box, without its best one, best first. Valid until
  /// the next merge().
  std::span<const Part> parts_of(const Kept& kept) const noexcept;

 private:
  struct Key {
    std::uint64_t rank = 0;
    std::uint32_t group = 0;  ///< one per label, or one for all labels
    std::uint32_t place = 0;
  };
  struct Order;

  void merge_group(std::span<const Key> group, std::span<const Detection> detections,
                   const MergeOptions& options);

  std::vector<Key> keys_;
  std::vector<Box> boxes_;  // of one group, best first
  std::vector<double> areas_;
  std::vector<std::uint32_t> stays_;  // index in the group of a kept box -> index in kept_
  std::vector<Kept> kept_;
  std::vector<Part> parts_;  // sorted by stay, then order
  BoxIndex index_;
};

}  // namespace halyard::decode
