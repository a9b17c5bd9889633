// SPDX-License-Identifier: Apache-2.0
// What follows every head: thresholds, order by score, best k, suppression, cap. Knows no head and
// no tensor. How it is done; what it means stands in halyard/selection.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decode/nms/overlap.h"
#include "decode/nms/prob_iou.h"
#include "decode/nms/spatial_index.h"
#include "halyard/decode.h"
#include "halyard/selection.h"

namespace halyard::decode {

/// How boxes in their order suppress one another. Checked options.
struct Rule {
  Suppression suppression = Suppression::greedy;
  Overlap overlap = Overlap::iou;
  float threshold = 0;                    ///< [0, 1]
  float sigma = 1;                        ///< > 0
  float floor = 0;                        ///< [0, 1]
  std::size_t maximum = ~std::size_t{0};  ///< > 0
};

/// Boxes as columns. Suppression of those of another label never happens.
struct BoxColumns {
  std::vector<float> x1, y1, x2, y2, area;
  std::vector<std::int32_t> label;
  std::size_t size() const noexcept { return x1.size(); }
  void resize(std::size_t count);
  void set(std::size_t i, const FlatBox& box) noexcept;
  FlatBox at(std::size_t i) const noexcept {
    return {x1[i], y1[i], x2[i], y2[i], area[i], label[i]};
  }
};

/// Memory of a selection, to use again. Positions count candidates in order, best first.
struct Workspace {
  std::vector<std::uint64_t> keys;   ///< one per candidate that passes, in order
  std::vector<std::uint64_t> spare;  ///< of sorting, and the queue of soft suppression
  std::vector<float> scores;         ///< by position
  BoxColumns boxes;                  ///< by position
  std::vector<Gaussian> gaussians;   ///< by position; of turned boxes, in place of `boxes`
  BoxColumns survivors;              ///< that may still suppress, with room for a vector
  std::vector<Gaussian> rotated_survivors;
  std::vector<std::uint32_t> applied;  ///< survivors that a position was held against already
  SpatialIndex<FlatBox> index;
  SpatialIndex<Gaussian> rotated_index;
  /// Whether all areas are large enough that rounding cannot make an overlap of none.
  bool may_use_index = true;
  std::vector<std::uint32_t> kept;  ///< positions, then indices of candidates; best first
  std::vector<float> kept_scores;
};

/// Leaves `kept` (indices of candidates) and `kept_scores`. `boxes`: empty, or one for each
/// candidate in place of its own box.
void select(std::span<const Detection> candidates, std::span<const RotatedBox> boxes,
            const SelectionOptions& options, Workspace& workspace);

/// `keys`: ascending ones are descending scores, then ascending indices; of candidates that reach
/// their threshold, the best top_k (0: all).
void order(std::span<const Detection> candidates, const SelectionOptions& options,
           Workspace& workspace);

/// Ascending keys are descending scores, then ascending indices. -0 is 0.
std::uint64_t order_key(float score, std::size_t index) noexcept;
inline std::uint32_t index_of(std::uint64_t key) noexcept {
  return static_cast<std::uint32_t>(key);
}

}  // namespace halyard::decode
