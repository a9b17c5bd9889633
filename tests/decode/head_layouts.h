// SPDX-License-Identifier: Apache-2.0
// The layouts that heads come in: the one list behind the tests of heads and docs/decode.md's
// table.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "decode/compile/program.h"
#include "decode/head/heads.h"

namespace halyard::test {

/// What a number of a box is.
enum class Part {
  boxes,
  sizes,
  objectness,
  scores,
  classes,
  coefficients,
  keypoints,
  angles,
  priors
};

/// Features that lie side by side.
struct Block {
  Part part;
  std::size_t count;
};

/// How a tensor lays out boxes and features; boxes of a grid count rows, columns, anchors.
enum class Order { boxes_first, features_first, anchors_first };

struct StoredTensor {
  std::string name;
  std::vector<std::size_t> shape;  ///< for one image
  std::vector<Block> blocks;       ///< none: it holds nothing of single boxes
  std::vector<std::size_t> levels;
  Order order = Order::boxes_first;
  std::size_t channel_axis = 0;  ///< of scales, where each feature has its own
  bool has_batch = true;
};

/// Boxes of one stride; of a head without strides one row of all boxes.
struct Grid {
  std::size_t rows = 1, columns = 0, anchors = 1;
  float stride_x = 1, stride_y = 1;
  std::vector<Anchor> extents = {};  ///< fractions of the input
  std::size_t count() const { return rows * columns * anchors; }
};

struct HeadLayout {
  std::string head;    ///< a column of the page's table
  std::string layout;  ///< another
  ModelDescription description;
  std::vector<StoredTensor> tensors;
  std::vector<Grid> levels;
  decode::Coding coding = decode::Coding::centre;
  Activation activation = Activation::none;
  bool has_background = false;
};

constexpr std::size_t layout_classes = 3, layout_masks = 5, layout_points = 2, layout_bins = 4;
constexpr std::size_t layout_boxes = 60;
constexpr Size layout_input{64, 96};

using Blocks = std::vector<Block>;
using Coded = decode::Coding;

inline const Block four{Part::boxes, 4}, class_scores{Part::scores, layout_classes},
    objectness_of_one{Part::objectness, 1}, mask_row{Part::coefficients, layout_masks},
    points_of_one{Part::keypoints, 3 * layout_points}, angle_of_one{Part::angles, 1};

inline std::size_t features_of(const Blocks& blocks) {
  std::size_t out = 0;
  for (const Block& block : blocks)
    out += block.count;
  return out;
}

/// An output that is one tensor of the layout.
inline OutputDescription leaf(HeadLayout& layout, OutputRole role, StoredTensor tensor) {
  OutputDescription out = output_of(role, tensor.shape, BoxUnits::fraction);
  tensor.name = out.name = "t" + std::to_string(layout.tensors.size());
  layout.tensors.push_back(std::move(tensor));
  return out;
}

inline HeadLayout begin(std::string head, std::string text, std::size_t boxes = layout_boxes) {
  HeadLayout out{std::move(head), std::move(text), model_of(layout_input, {}), {}, {}};
  out.levels = {Grid{.columns = boxes}};
  return out;
}

/// [1, features, boxes] or [1, boxes, features].
inline OutputDescription flat(HeadLayout& layout, OutputRole role, const Blocks& blocks,
                              Order order) {
  const std::size_t n = layout.levels[0].count(), f = features_of(blocks);
  const bool first = order == Order::features_first;
  return leaf(layout, role,
              {"",
               first ? std::vector{std::size_t{1}, f, n} : std::vector{std::size_t{1}, n, f},
               blocks,
               {0},
               order,
               first ? std::size_t{1} : std::size_t{2}});
}

inline void add_prototypes(HeadLayout& layout, bool channels_first) {
  using S = std::vector<std::size_t>;
  layout.description.outputs.push_back(
      leaf(layout, OutputRole::prototypes,
           {"",
            channels_first ? S{1, layout_masks, 24, 16} : S{1, 24, 16, layout_masks},
            {},
            {},
            Order::boxes_first,
            channels_first ? std::size_t{1} : std::size_t{3}}));
}

/// One tensor; the task defines its content.
inline HeadLayout combined(std::string head, std::string text, const Blocks& blocks, Order order,
                           std::string version = "", std::size_t boxes = layout_boxes) {
  HeadLayout out = begin(std::move(head), std::move(text), boxes);
  out.description.outputs = {flat(out, OutputRole::detection, blocks, order)};
  out.description.decoder_version = std::move(version);
  for (const Block& block : blocks) {
    if (block.part == Part::keypoints) out.description.keypoints = KeypointShape{layout_points, 3};
    if (block.part == Part::angles) out.description.task = Task::obb;
    if (block.part == Part::coefficients) add_prototypes(out, order == Order::features_first);
  }
  out.description.outputs[0].axes =
      order == Order::features_first
          ? std::vector{AxisName::batch, AxisName::num_features, AxisName::num_boxes}
          : std::vector{AxisName::batch, AxisName::num_boxes, AxisName::num_features};
  return out;
}

inline HeadLayout end_to_end(std::string head, std::string text, Blocks behind) {
  Blocks blocks{four, {Part::scores, 1}, {Part::classes, 1}};
  const bool is_rotated = !behind.empty() && behind[0].part == Part::angles;
  blocks.insert(blocks.end(), behind.begin(), behind.end());
  HeadLayout out =
      combined(std::move(head), std::move(text), blocks, Order::boxes_first, "yolo26", 50);
  out.coding = is_rotated ? Coded::centre : Coded::corners;
  return out;
}

struct RoleOf {
  OutputRole role;
  Block block;
};

/// Tensors of their own.
inline HeadLayout split(std::string head, std::string text, const std::vector<RoleOf>& roles,
                        Order order, Family family = Family::ultralytics) {
  HeadLayout out = begin(std::move(head), std::move(text));
  for (const RoleOf& of : roles) {
    auto& output = out.description.outputs.emplace_back(flat(out, of.role, {of.block}, order));
    output.family = family;
    if (of.block.part == Part::keypoints)
      out.description.keypoints = KeypointShape{layout_points, 3};
    if (of.block.part == Part::angles) out.description.task = Task::obb;
    if (of.block.part == Part::coefficients) add_prototypes(out, order == Order::features_first);
    if (of.block.part == Part::classes) out.coding = Coded::corners;
  }
  return out;
}

inline const RoleOf split_boxes{OutputRole::boxes, four},
    split_scores{OutputRole::scores, class_scores},
    split_masks{OutputRole::mask_coefficients, mask_row},
    split_points{OutputRole::keypoints, points_of_one},
    split_angle{OutputRole::angles, angle_of_one},
    split_objectness{OutputRole::objectness, objectness_of_one};

/// Parts for each stride of the input; scores, keypoints' visibility and angles are logits.
inline HeadLayout by_levels(std::string head, std::string text, Coded coding, bool channels_first,
                            std::vector<Stride> strides, const std::vector<RoleOf>& behind = {}) {
  HeadLayout out = begin(std::move(head), std::move(text));
  out.levels.clear();
  for (const Stride& s : strides)
    out.levels.push_back({layout_input.height / s.y, layout_input.width / s.x, 1,
                          static_cast<float>(s.x), static_cast<float>(s.y)});
  out.coding = coding;
  out.activation = Activation::sigmoid;
  std::vector<RoleOf> roles{
      {OutputRole::boxes, {Part::boxes, coding == Coded::bins ? 4 * layout_bins : 4}},
      split_scores};
  roles.insert(roles.end(), behind.begin(), behind.end());
  std::size_t cells = 0;
  for (const Grid& grid : out.levels)
    cells += grid.count();
  for (const RoleOf& of : roles) {
    const std::size_t f = of.block.count;
    OutputDescription whole = output_of(of.role, {1, f, cells}, BoxUnits::fraction);
    if (of.role == OutputRole::boxes) {
      whole.shape[1] = 4;
      whole.encoding = coding == Coded::bins ? BoxEncoding::dfl : BoxEncoding::direct;
      whole.box_units = BoxUnits::pixels;
    }
    if (of.role == OutputRole::scores) whole.activation = Activation::sigmoid;
    if (of.role == OutputRole::keypoints)
      out.description.keypoints = KeypointShape{layout_points, 3};
    if (of.role == OutputRole::angles) out.description.task = Task::obb;
    for (std::size_t l = 0; l < strides.size(); ++l) {
      const Grid& g = out.levels[l];
      StoredTensor tensor{"", {1, g.rows, g.columns, f}, {of.block}, {l}, Order::boxes_first, 3};
      if (channels_first)
        tensor = {"", {1, f, g.rows, g.columns}, {of.block}, {l}, Order::features_first, 1};
      auto& part = whole.parts.emplace_back(leaf(out, of.role, std::move(tensor)));
      part.stride = strides[l];
      part.box_units = {};
      using enum AxisName;
      part.axes = channels_first ? std::vector{batch, num_features, height, width}
                                 : std::vector{batch, height, width, num_features};
    }
    out.description.outputs.push_back(std::move(whole));
    if (of.role == OutputRole::mask_coefficients) add_prototypes(out, channels_first);
  }
  return out;
}

/// Grids of anchors of strides 8 and 16.
inline HeadLayout grids(std::string head, std::string text, Order order, Family family) {
  HeadLayout out = begin(std::move(head), std::move(text));
  out.levels = {{12, 8, 2, 8, 8, {{0.1F, 0.2F}, {0.3F, 0.15F}}},
                {6, 4, 2, 16, 16, {{0.4F, 0.3F}, {0.5F, 0.6F}}}};
  out.coding = Coded::anchor;
  out.activation = Activation::sigmoid;
  const Blocks blocks{four, objectness_of_one, class_scores};
  const std::size_t f = features_of(blocks);
  for (std::size_t l = 0; l < 2; ++l) {
    const Grid& g = out.levels[l];
    StoredTensor tensor{"", {1, g.rows, g.columns, 2 * f}, blocks, {l}, order, 3};
    using enum AxisName;
    std::vector axes{batch, height, width, num_anchors_x_features};
    if (order == Order::features_first) {
      tensor.shape = {1, 2 * f, g.rows, g.columns}, tensor.channel_axis = 1;
      axes = {batch, num_anchors_x_features, height, width};
    }
    if (order == Order::anchors_first) {
      tensor.shape = {1, 2, g.rows, g.columns, f}, tensor.channel_axis = 4;
      axes.clear();
    }
    OutputDescription output = leaf(out, OutputRole::detection, std::move(tensor));
    output.axes = axes;
    output.family = family;
    output.anchors = g.extents;
    output.encoding = BoxEncoding::anchor;
    output.box_units = {};
    output.stride =
        Stride{static_cast<std::uint32_t>(g.stride_x), static_cast<std::uint32_t>(g.stride_y)};
    out.description.outputs.push_back(std::move(output));
  }
  return out;
}

std::vector<HeadLayout> head_layouts();

}  // namespace halyard::test
