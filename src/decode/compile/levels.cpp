// SPDX-License-Identifier: Apache-2.0
// Compiles outputs that have one part per stride (feature pyramids), and grids of anchors.
#include <algorithm>

#include "base/text/format_error.h"
#include "decode/compile/compile.h"
#include "decode/description/shapes.h"
#include "decode/description/validate.h"

namespace halyard::decode {
namespace {

Result<TensorAxes> axes_of_grid(const NamedOutput& output, const GridHint& hint) {
  if (!output->axes.empty()) {
    HALYARD_TRY(TensorAxes axes, axes_by_name(output, true));
    if (!axes.feature) return wrong_output(output, "outputs: axes must name the features' axis");
    return axes;
  }
  const auto found = grid_axes_by_shape(output->shape, hint);
  if (!found)
    return wrong_output(output, "outputs: a level has rank 3 or 4: batch, rows, columns, features");
  return *found;
}

// Ascending, so that the order of anchors is that of the networks' authors.
Result<std::vector<Stride>> ascending_strides(const NamedOutput& boxes) {
  std::vector<Stride> out;
  for (std::size_t i = 0; i < boxes->parts.size(); ++i) {
    const auto& stride = boxes->parts[i].stride;
    if (!stride)
      return fail(Errc::invalid_argument, "outputs: all parts must have a stride, or none",
                  "{}.outputs[{}]", boxes.path, i);
    if (std::find(out.begin(), out.end(), *stride) != out.end())
      return fail(Errc::invalid_argument, "outputs: a stride must not appear twice",
                  "{}.outputs[{}]: {}", boxes.path, i, stride->x);
    out.push_back(*stride);
  }
  std::sort(out.begin(), out.end(),
            [](const Stride& a, const Stride& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  return out;
}

class LevelMaker {
 public:
  LevelMaker(HeadProgram& program, const ModelDescription& description, const Stride& stride)
      : program_(program), description_(description), stride_(stride) {
    level_.stride_x = static_cast<float>(stride.x);
    level_.stride_y = static_cast<float>(stride.y);
    level_.first_box = program.box_count();
  }

  // `features`: the required count; 0: any.
  Result<Field> add(const NamedOutput& output, std::size_t features) {
    const NamedOutput part = output.find_part(
        [this](const OutputDescription& candidate) { return candidate.stride == stride_; });
    if (!part)
      return fail(Errc::invalid_argument, "outputs: every role needs a part of each stride",
                  "{}: no part of stride {}", output.path, stride_.x);
    HALYARD_TRY(const TensorAxes axes, axes_of_grid(part, grid_hint(features)));
    const std::size_t rows = extent(part->shape, axes.row);
    const std::size_t columns = extent(part->shape, axes.column);
    if (level_.columns == 0) {
      level_.rows = rows;
      level_.columns = columns;
    } else if (rows != level_.rows || columns != level_.columns) {
      return fail(Errc::invalid_argument, "outputs: parts of a stride must have the same grid",
                  "{}: {} x {}, not {} x {}", part.path, columns, rows, level_.columns,
                  level_.rows);
    }
    Field field;
    field.count = extent(part->shape, axes.feature);
    if (features != 0 && field.count != features)
      return fail(Errc::invalid_argument, "outputs: a box has a wrong number of features",
                  "{}: {} features, expected {}", part.path, field.count, features);
    field.tensor = add_tensor(program_, part, axes);
    return field;
  }

  Level& level() noexcept { return level_; }

 private:
  // The size of the input distinguishes rows and columns from features.
  GridHint grid_hint(std::size_t features) const {
    const Size input = description_.input;
    return {features, cells_along(input.height, stride_.y), cells_along(input.width, stride_.x)};
  }
  HeadProgram& program_;
  const ModelDescription& description_;
  Stride stride_;
  Level level_;
};

Status set_coding(HeadProgram& program, const ModelDescription& description,
                  const NamedOutput& boxes) {
  const BoxEncoding encoding = boxes->encoding.value_or(BoxEncoding::dfl);
  if (encoding != BoxEncoding::dfl && encoding != BoxEncoding::direct)
    return no_head(description, "parts with strides must hold distributions or distances");
  program.coding = encoding == BoxEncoding::dfl ? Coding::bins : Coding::distances;
  return {};
}

Status check_bins(HeadProgram& program, const NamedOutput& boxes, const Field& field) {
  if (program.coding != Coding::bins) return {};
  if (field.count % 4 != 0 || field.count < 8)
    return fail(Errc::invalid_argument,
                "outputs: features of distributions must be a multiple of 4 and at "
                "least 8",
                "{}: {}", boxes.path, field.count);
  const std::size_t bins = field.count / 4;
  if (bins > max_bins)
    return fail(Errc::unsupported, "outputs: at most 64 bins per side", "{}: {}", boxes.path, bins);
  if (program.bins != 0 && program.bins != bins)
    return fail(Errc::invalid_argument, "outputs: all levels must have the same number of bins",
                "{}: {}, others have {}", boxes.path, bins, program.bins);
  program.bins = bins;
  return {};
}

Status add_level(HeadProgram& program, const ModelDescription& description, const Outputs& outputs,
                 const Stride& stride, std::size_t masks) {
  LevelMaker maker(program, description, stride);
  Level& level = maker.level();
  HALYARD_TRY(level.boxes,
              maker.add(outputs.boxes, program.coding == Coding::distances ? std::size_t{4} : 0));
  HALYARD_RETURN_IF_ERROR(check_bins(program, outputs.boxes, level.boxes));
  HALYARD_TRY(level.scores, maker.add(outputs.scores, program.class_count));
  program.class_count = level.scores.count;
  if (outputs.objectness) {
    HALYARD_TRY(level.objectness, maker.add(outputs.objectness, 1));
  }
  if (outputs.coefficients) {
    HALYARD_TRY(level.coefficients, maker.add(outputs.coefficients, masks));
  }
  if (outputs.keypoints) {
    HALYARD_TRY(level.keypoints, maker.add(outputs.keypoints, features_of(*description.keypoints)));
  }
  if (outputs.angles) {
    HALYARD_TRY(level.angles, maker.add(outputs.angles, 1));
  }
  program.levels.push_back(std::move(level));
  return {};
}

// Makes the level of one grid and adds its tensor.
Level grid_level(HeadProgram& program, Size input, const NamedOutput& output,
                 const TensorAxes& axes, std::size_t features) {
  Level level;
  level.first_box = program.box_count();
  level.rows = extent(output->shape, axes.row);
  level.columns = extent(output->shape, axes.column);
  level.anchors = output->anchors.size();
  level.stride_x = static_cast<float>(input.width) / static_cast<float>(level.columns);
  level.stride_y = static_cast<float>(input.height) / static_cast<float>(level.rows);
  for (const Anchor& a : output->anchors)
    level.extents.push_back(
        {a[0] * static_cast<float>(input.width), a[1] * static_cast<float>(input.height)});
  const std::size_t tensor = add_tensor(program, output, axes);
  const auto field = [&](std::size_t first, std::size_t count) {
    return Field{tensor, first, count, axes.anchor ? 0 : features, 0};
  };
  level.boxes = field(0, 4);
  level.objectness = field(4, 1);
  level.scores = field(5, features - 5);
  return level;
}

// Adds one grid: [batch, rows, columns, anchors x features] in any order, or with an axis of
// anchors.
Status add_grid(HeadProgram& program, const ModelDescription& description,
                const NamedOutput& output) {
  const std::size_t anchors = output->anchors.size();
  if (anchors == 0) return wrong_output(output, "outputs: a grid of anchors needs anchors");
  std::size_t wanted = 0;
  if (!description.labels.empty()) wanted = (5 + description.labels.size()) * anchors;
  HALYARD_TRY(const TensorAxes axes,
              axes_of_grid(output, {output->shape.size() == 5 ? std::size_t{0} : wanted}));
  std::size_t features = extent(output->shape, axes.feature);
  if (axes.anchor) {
    if (output->shape[*axes.anchor] != anchors)
      return wrong_output(output,
                          "outputs: the axis of anchors must be as long as the list of anchors");
  } else {
    if (features % anchors != 0)
      return wrong_output(output, "outputs: features must be a multiple of the anchors");
    features /= anchors;
  }
  if (features <= 5)
    return wrong_output(output, "outputs: an anchor must have 5 features and one per class");
  const std::size_t classes = features - 5;
  if (program.class_count != 0 && program.class_count != classes)
    return wrong_output(output, "outputs: all grids must have the same number of classes");
  program.class_count = classes;
  program.levels.push_back(grid_level(program, description.input, output, axes, features));
  return {};
}

}  // namespace

Result<HeadProgram> compile_levels(const ModelDescription& description, const Outputs& outputs) {
  HeadProgram program;
  program.name = "detection by levels";
  program.box_units = BoxUnits::pixels;
  program.keypoints = description.keypoints;
  program.scoring.activation = outputs.scores->activation;
  if (outputs.keypoints && !description.keypoints)
    return no_head(description, "keypoints of unknown count and dimensions");
  HALYARD_RETURN_IF_ERROR(set_coding(program, description, outputs.boxes));
  std::size_t masks = 0;
  if (outputs.coefficients) {
    if (!outputs.prototypes) return no_head(description, "mask coefficients without prototypes");
    HALYARD_TRY(masks, add_prototypes(program, description, outputs.prototypes));
  }
  HALYARD_TRY(const auto strides, ascending_strides(outputs.boxes));
  for (const Stride& stride : strides)
    HALYARD_RETURN_IF_ERROR(add_level(program, description, outputs, stride, masks));
  return program;
}

Result<HeadProgram> compile_anchor_grids(const ModelDescription& description,
                                         const Outputs& outputs) {
  HeadProgram program;
  program.name = "grids of anchors";
  program.coding = Coding::anchor;
  program.box_units = BoxUnits::pixels;
  program.scoring.activation = Activation::sigmoid;
  if (description.input.width <= 0 || description.input.height <= 0)
    return fail(Errc::invalid_argument, "input: grids of anchors need the size of the input");
  for (const NamedOutput& output : outputs.detections) {
    if (output->parts.empty()) {
      HALYARD_RETURN_IF_ERROR(add_grid(program, description, output));
      continue;
    }
    for (std::size_t i = 0; i < output->parts.size(); ++i) {
      HALYARD_RETURN_IF_ERROR(add_grid(program, description, output.part(i)));
    }
  }
  return program;
}

}  // namespace halyard::decode
