// SPDX-License-Identifier: Apache-2.0
// One tensor that holds all features of a box side by side.
#include <algorithm>

#include "base/format_error.h"
#include "decode/lowering.h"

namespace halyard::decode {
namespace {

constexpr std::size_t box_features = 4;
constexpr std::size_t least_features = 5;  // a box and one class
constexpr std::size_t end_to_end_rows = 300;
constexpr std::size_t default_bins = 8;  // NanoDet's

struct Combined {
  const ModelDescription& description;
  const NamedOutput& output;
  TensorAxes axes{};
  std::size_t features = 0;
  std::size_t boxes = 0;
  std::size_t masks = 0;   ///< coefficients
  std::size_t points = 0;  ///< features of keypoints
  std::size_t angles = 0;

  std::size_t extras() const noexcept { return masks + points + angles; }
  bool boxes_first() const noexcept { return axes.column < axes.feature; }
};

// By extents; nothing when no axis can hold the features.
std::optional<TensorAxes> axes_by_shape(const std::vector<std::size_t>& shape, std::size_t wanted) {
  if (shape.size() != 2 && shape.size() != 3) return std::nullopt;
  const std::size_t first = shape.size() - 2;
  const std::size_t a = shape[first];
  const std::size_t b = shape[first + 1];
  TensorAxes axes;
  if (shape.size() == 3) axes.batch = 0;
  // Equal extents are a picture rather than a head, and [1, n] is a classification.
  if (a == b || (shape.size() == 2 && (a == 1 || b == 1))) return std::nullopt;
  bool features_first = a < b ? a >= least_features : b < least_features;
  const bool is_told = wanted != 0 && (a == wanted) != (b == wanted);
  if (is_told) features_first = a == wanted;
  // Boxes without scores, far more often than four boxes.
  if (!is_told && (a == box_features || b == box_features)) return std::nullopt;
  axes.feature = features_first ? first : first + 1;
  axes.column = features_first ? first + 1 : first;
  if (shape[*axes.feature] < least_features) return std::nullopt;
  return axes;
}

bool has_objectness(const ModelDescription& description, const OutputDescription& output) {
  if (output.score_format) return *output.score_format == ScoreFormat::obj_x_class;
  return description.decoder_version == "yolov5" && output.family == Family::ultralytics;
}

// Cells of one level.
Size cells_of(Size input, std::uint32_t stride) {
  const auto cells = [stride](std::int32_t extent) {
    return static_cast<std::int32_t>((static_cast<std::int64_t>(extent) + stride - 1) / stride);
  };
  return {cells(input.width), cells(input.height)};
}

std::optional<TensorAxes> axes_without_names(const Combined& c) {
  const OutputDescription& output = *c.output.output;
  if (!output.strides.empty()) {
    std::size_t boxes = 0;
    for (const std::uint32_t stride : output.strides) {
      const Size cells = cells_of(c.description.input, std::max(stride, 1U));
      boxes += static_cast<std::size_t>(cells.width) * static_cast<std::size_t>(cells.height);
    }
    return flat_axes_by_shape(output.shape, {boxes, 0, true});
  }
  const std::size_t labels = c.description.labels.size();
  const std::size_t objectness = has_objectness(c.description, output) ? 1 : 0;
  return axes_by_shape(output.shape,
                       labels == 0 ? 0 : labels + box_features + c.extras() + objectness);
}

Status find_axes(Combined& c) {
  const OutputDescription& output = *c.output.output;
  if (!output.axes.empty()) {
    HALYARD_TRY(c.axes, axes_by_name(c.output, false));
    if (!c.axes.feature)
      return wrong_output(c.output, "outputs: axes must name num_features and num_boxes");
  } else {
    const auto found = axes_without_names(c);
    if (!found && !output.strides.empty())
      return wrong_output(c.output, "outputs: strides and input do not make as many boxes");
    if (!found)
      return no_head(c.description,
                     "without names for the axes, rank must be 2 or 3, with two different extents, "
                     "one of 5 or more and none of 4, which is boxes without scores");
    c.axes = *found;
  }
  c.features = output.shape[*c.axes.feature];
  c.boxes = output.shape[*c.axes.column];
  return {};
}

// Networks with suppression inside give rows of corners, score and class, at most 300 of them where
// nothing says so: the shape of a two-class detection, and a different meaning.
bool is_end_to_end(const Combined& c) {
  const std::string& version = c.description.decoder_version;
  const OutputDescription& output = *c.output.output;
  if (version == "yolo26") return true;
  if (!version.empty() || output.family != Family::ultralytics || output.score_format) return false;
  return c.features == box_features + 2 + c.extras() && c.boxes <= end_to_end_rows &&
         c.boxes_first() && c.description.labels.size() != 2;
}

Field field(std::size_t first, std::size_t count) {
  Field out;
  out.first = first;
  out.count = count;
  return out;
}

// What follows the scores.
void set_extras(const Combined& c, Level& level, std::size_t at) {
  if (c.masks != 0) level.coefficients = field(at, c.masks);
  if (c.points != 0) level.keypoints = field(at + c.masks, c.points);
  if (c.angles != 0) level.angles = field(at + c.masks + c.points, c.angles);
}

Status set_rows(const Combined& c, Program& program, Level& level) {
  if (c.features != box_features + 2 + c.extras())
    return wrong_output(c.output,
                        "outputs: end-to-end rows are corners, score, class and what else the head "
                        "gives");
  program.name = "end-to-end detection";
  // Ultralytics gives turned boxes as centre and extents here too.
  program.coding = c.angles != 0 ? Coding::centre : Coding::corners;
  program.is_final = true;
  level.boxes = field(0, box_features);
  level.scores = field(box_features, 1);
  level.classes = field(box_features + 1, 1);
  set_extras(c, level, box_features + 2);
  return {};
}

Status set_yolo(const Combined& c, Program& program, Level& level) {
  const bool objectness = has_objectness(c.description, *c.output.output);
  const std::size_t first_class = box_features + (objectness ? 1 : 0);
  if (c.features < first_class + 1 + c.extras())
    return no_head(c.description,
                   fmt::format("num_features must be at least {}", first_class + 1 + c.extras()));
  const bool detr = c.output->family == Family::detr;
  program.name = detr ? "DETR" : "YOLO detection";
  program.is_final = detr;
  program.coding = c.output->encoding == BoxEncoding::corners ? Coding::corners : Coding::centre;
  program.class_count = c.features - first_class - c.extras();
  level.boxes = field(0, box_features);
  if (objectness) level.objectness = field(box_features, 1);
  level.scores = field(first_class, program.class_count);
  set_extras(c, level, first_class + program.class_count);
  return {};
}

// Levels that follow each other in one tensor.
Status split_levels(const Combined& c, Program& program) {
  const Size input = c.description.input;
  if (input.width <= 0 || input.height <= 0)
    return fail(Errc::invalid_argument, "input: levels of one tensor need the input's size");
  const Level whole = program.levels[0];
  program.levels.clear();
  std::size_t boxes = 0;
  for (const std::uint32_t stride : c.output->strides) {
    if (stride == 0) return wrong_output(c.output, "outputs: strides must be above 0");
    Level level = whole;
    level.first_box = boxes;
    const Size cells = cells_of(input, stride);
    level.rows = static_cast<std::size_t>(cells.height);
    level.columns = static_cast<std::size_t>(cells.width);
    level.stride_x = level.stride_y = static_cast<float>(stride);
    for (Field* f : {&level.boxes, &level.scores, &level.coefficients, &level.keypoints})
      f->first_box = boxes;
    boxes += level.count();
    program.levels.push_back(std::move(level));
  }
  if (boxes == c.boxes) return {};
  return fail(Errc::invalid_argument, "outputs: strides do not make as many boxes as the shape has",
              "{}: {} of {}", c.output.path, boxes, c.boxes);
}

Status set_nanodet(const Combined& c, Program& program, Level& level) {
  const std::size_t labels = c.description.labels.size();
  if (labels >= c.features) return wrong_output(c.output, "outputs: fewer features than labels");
  const std::size_t rest = labels == 0 ? 4 * default_bins : c.features - labels;
  if (rest % 4 != 0 || rest >= c.features)
    return wrong_output(c.output, "outputs: features are classes and four distributions");
  program.name = "NanoDet";
  program.coding = Coding::bins;
  program.bins = rest / 4;
  program.class_count = c.features - rest;
  level.scores = field(0, program.class_count);
  level.boxes = field(program.class_count, rest);
  return {};
}

}  // namespace

Result<Program> lower_combined(const ModelDescription& description, const Outputs& outputs) {
  const NamedOutput& output = outputs.detections[0];
  if (!output->parts.empty()) return no_head(description, "a detection split into several tensors");
  Program program;
  Combined c{description, output};
  if (outputs.prototypes && !outputs.coefficients) {
    HALYARD_TRY(c.masks, add_prototypes(program, description, outputs.prototypes));
  }
  if (description.keypoints && !outputs.keypoints)
    c.points = std::size_t{description.keypoints->count} * description.keypoints->dimensions;
  c.angles = description.task == Task::obb && !outputs.angles ? 1 : 0;
  HALYARD_CHECK(find_axes(c));
  program.box_units = output->box_units;
  program.keypoints = description.keypoints;
  program.scoring.activation = output->activation;
  Level level;
  level.columns = c.boxes;
  if (output->family == Family::nanodet) {
    HALYARD_CHECK(set_nanodet(c, program, level));
  } else if (is_end_to_end(c)) {
    HALYARD_CHECK(set_rows(c, program, level));
  } else {
    HALYARD_CHECK(set_yolo(c, program, level));
  }
  const std::size_t tensor = add_tensor(program, output, c.axes);
  for (Field* f : {&level.boxes, &level.scores, &level.objectness, &level.classes,
                   &level.coefficients, &level.keypoints, &level.angles})
    f->tensor = tensor;
  HALYARD_CHECK(add_extras(program, description, outputs, level));
  program.levels.push_back(std::move(level));
  if (!output->strides.empty()) {
    HALYARD_CHECK(split_levels(c, program));
  }
  return program;
}

}  // namespace halyard::decode
