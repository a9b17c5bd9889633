// SPDX-License-Identifier: Apache-2.0
// The compiled form of a description: where each number of each box lies and how it is coded. It is
// made once and knows shapes only, no data. Combined, split and per-level outputs, in any order of
// axes, use the same structures with different values.
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
  std::string name;          ///< can be empty
  std::string path;          ///< for messages: "outputs[1]", "outputs[0].outputs[2]"
  std::size_t position = 0;  ///< among all tensors of the model
  OutputRole role = OutputRole::detection;
  std::vector<std::size_t> shape;  ///< the batch extent of the actual tensor can differ
  std::optional<std::size_t> batch_axis;
  std::optional<std::size_t> feature_axis;  ///< none: one feature
  std::optional<std::size_t> row_axis;      ///< grids only
  std::optional<std::size_t> column_axis;   ///< of boxes if there are no rows; none: one box
  std::optional<std::size_t> anchor_axis;   ///< if the anchors of a cell have a separate axis
  std::optional<DType> dtype;
  std::optional<Quantization> quantization;
};

/// Features of the boxes of one level that are adjacent in one tensor. count 0: absent.
struct Field {
  std::size_t tensor = 0;  ///< index into HeadProgram::tensors
  std::size_t first = 0;   ///< index of the first feature
  std::size_t count = 0;
  std::size_t anchor_features = 0;  ///< features from one anchor of a cell to the next
  std::size_t first_box = 0;        ///< of the level, in a tensor that holds several levels
  explicit operator bool() const noexcept { return count != 0; }
};

/// Boxes of one stride. A head without levels has one level with a single row.
struct Level {
  std::size_t first_box = 0;  ///< over all levels; order: rows, columns, anchors
  std::size_t rows = 1;
  std::size_t columns = 0;
  std::size_t anchors = 1;  ///< boxes per cell
  float stride_x = 1;       ///< input pixels
  float stride_y = 1;
  std::vector<Anchor> extents;  ///< of the anchors, in pixels of the input

  Field boxes;  ///< all coordinates, or only centres if `sizes` has the rest
  Field sizes;
  Field scores;  ///< one per class without the background; a single one beside `classes`
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
  distances,  ///< from the centre of a cell to the four sides, in strides
  bins,       ///< distances as distributions
  anchor,     ///< offsets from a cell and an anchor, as logits
  prior,      ///< offsets from priors
};

/// How raw scores become class scores.
struct Scoring {
  Activation activation = Activation::none;  ///< still to be applied; softmax: over all classes
  bool background = false;                   ///< softmax includes one more class before the first
};

/// The compiled head.
struct HeadProgram {
  std::string name;  ///< of the arrangement, for messages and traces
  std::vector<TensorPlan> tensors;
  std::size_t tensor_count = 0;  ///< of the model, including those that are not decoded
  std::vector<Level> levels;
  Coding coding = Coding::centre;
  Scoring scoring;
  std::size_t bins = 0;               ///< per side
  std::optional<BoxUnits> box_units;  ///< unset: by the range of the tensor. Not used for distances
  bool is_final = false;              ///< the network has already suppressed
  bool is_classifier = false;         ///< scores of the image: one level with one entry and no box
  std::size_t class_count = 0;        ///< 0: the network gives only an index
  std::optional<KeypointShape> keypoints;
  std::optional<std::size_t> prototypes;  ///< index of the tensor; no padding axes, K first or last

  std::size_t box_count() const noexcept {
    return levels.empty() ? 0 : levels.back().first_box + levels.back().count();
  }
};

}  // namespace halyard::decode
