// SPDX-License-Identifier: Apache-2.0
// Selection after every head: thresholds, order by score, best k, suppression, cap. It depends on
// no head and no tensor. The meaning of the options is documented in halyard/selection.h.
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

/// How boxes suppress one another, in order of score. The options have been checked.
struct Rule {
  Suppression suppression = Suppression::greedy;
  Overlap overlap = Overlap::iou;
  float threshold = 0;                    ///< [0, 1]
  float sigma = 1;                        ///< > 0
  float floor = 0;                        ///< [0, 1]
  std::size_t maximum = ~std::size_t{0};  ///< > 0
};

/// Boxes as columns. A box never suppresses a box with another label.
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

/// Reusable memory of a selection. A position is an index into the candidates in order, best first.
struct Workspace {
  std::vector<std::uint64_t> keys;   ///< one per candidate that passes, in order
  std::vector<std::uint64_t> spare;  ///< for sorting, and the queue of soft suppression
  std::vector<float> scores;         ///< by position
  BoxColumns boxes;                  ///< by position
  std::vector<Gaussian> gaussians;   ///< by position; rotated boxes, instead of `boxes`
  BoxColumns survivors;              ///< boxes that can still suppress, padded for a vector
  std::vector<Gaussian> rotated_survivors;
  std::vector<std::uint32_t> applied;  ///< by position: number of survivors already applied to it
  SpatialIndex<FlatBox> index;
  SpatialIndex<Gaussian> rotated_index;
  /// Whether all areas are so large that rounding cannot create an overlap between separate boxes.
  bool may_use_index = true;
  std::vector<std::uint32_t> kept;  ///< positions, later indices of candidates; best first
  std::vector<float> kept_scores;
};

/// Fills `kept` (indices of candidates) and `kept_scores`. `boxes`: empty, or one rotated box per
/// candidate, used instead of the candidate's box.
void select(std::span<const Detection> candidates, std::span<const RotatedBox> boxes,
            const SelectionOptions& options, Workspace& workspace);

/// Fills `keys`, ascending: descending scores, then ascending indices. Includes candidates that
/// reach their threshold, at most the best top_k (0: all).
void order(std::span<const Detection> candidates, const SelectionOptions& options,
           Workspace& workspace);

/// A key that ascends with descending scores, then ascending indices. -0 equals 0.
std::uint64_t order_key(float score, std::size_t index) noexcept;
inline std::uint32_t index_of(std::uint64_t key) noexcept {
  return static_cast<std::uint32_t>(key);
}

}  // namespace halyard::decode
