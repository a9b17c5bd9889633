// SPDX-License-Identifier: Apache-2.0
// What a description is lowered to: where each number of each box lies and how it is coded. Made
// once; knows shapes, no bytes. Combined, split and per-level outputs of any order of axes differ
// in their fields alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halyard/decode.h"

namespace halyard::decode {

/// One tensor that decode() needs.
struct TensorPlan {
  std::string name;          ///< may be empty
  std::string path;          ///< "outputs[1]", "outputs[0].outputs[2]": for messages
  std::size_t position = 0;  ///< among all tensors of the model
  OutputRole role = OutputRole::detection;
  std::vector<std::size_t> shape;  ///< the batch extent may differ
  std::optional<std::size_t> batch_axis;
  std::optional<std::size_t> feature_axis;  ///< none: one feature
  std::optional<std::size_t> row_axis;      ///< grids
  std::optional<std::size_t> column_axis;   ///< of boxes, where there are no rows; none: one box
  std::optional<std::size_t> anchor_axis;   ///< where anchors of a cell have an axis of their own
  std::optional<DType> dtype;
  std::optional<Quantization> quantization;
};

/// Features of the boxes of one level that lie side by side in one tensor. count 0: there are none.
struct Field {
  std::size_t tensor = 0;  ///< index into HeadProgram::tensors
  std::size_t first = 0;   ///< feature
  std::size_t count = 0;
  std::size_t anchor_features = 0;  ///< from one anchor of a cell to the next
  std::size_t first_box = 0;        ///< of the level, in a tensor of several
  explicit operator bool() const noexcept { return count != 0; }
};

/// Boxes of one stride. A head without levels has one of a single row.
struct Level {
  std::size_t first_box = 0;  ///< counted over all levels: rows, columns, anchors
  std::size_t rows = 1;
  std::size_t columns = 0;
  std::size_t anchors = 1;  ///< boxes of a cell
  float stride_x = 1;       ///< input pixels
  float stride_y = 1;
  std::vector<Anchor> extents;  ///< of anchors, fractions of the input

  Field boxes;  ///< all coordinates, or centres where `sizes` has the rest
  Field sizes;
  Field scores;  ///< one per class, without the background; one where `classes` says which
  Field objectness;
  Field classes;
  Field coefficients;
  Field keypoints;
  Field angles;
  Field priors;

  std::size_t count() const noexcept { return rows * columns * anchors; }
  std::array<Field*, 9> fields() noexcept {
    return {&boxes,        &sizes,     &scores, &objectness, &classes,
            &coefficients, &keypoints, &angles, &priors};
  }
};

enum class Coding : std::uint8_t {
  centre,     ///< cx, cy, w, h
  corners,    ///< x1, y1, x2, y2
  distances,  ///< to the four sides of a cell's centre, in strides
  bins,       ///< the same as distributions
  anchor,     ///< offsets of a cell and an anchor, logits
  prior,      ///< offsets of priors
};

/// How the scores of a box come about.
struct Scoring {
  Activation activation = Activation::none;  ///< to be applied; softmax: over all classes
  bool background = false;                   ///< softmax counts a class before the first too
};

/// A head that gives boxes.
struct HeadProgram {
  std::string name;  ///< of the arrangement, for messages and traces
  std::vector<TensorPlan> tensors;
  std::size_t tensor_count = 0;  ///< of the model, those that are not decoded too
  std::vector<Level> levels;
  Coding coding = Coding::centre;
  Scoring scoring;
  std::size_t bins = 0;               ///< of each side
  std::optional<BoxUnits> box_units;  ///< unset: by the tensor's range. Not of distances
  bool is_final = false;              ///< the network has suppressed already
  bool is_classifier = false;         ///< scores of the image; one level of one box without one
  std::size_t class_count = 0;        ///< 0: the network tells an index only
  std::optional<KeypointShape> keypoints;
  std::optional<std::size_t> prototypes;  ///< tensor; without padding, K first or last

  std::size_t box_count() const noexcept {
    return levels.empty() ? 0 : levels.back().first_box + levels.back().count();
  }
};

}  // namespace halyard::decode
