// SPDX-License-Identifier: Apache-2.0
// Compiles detections that hold all features of a box in one tensor.
#include <algorithm>

#include "base/assert.h"
#include "base/text/format_error.h"
#include "decode/compile/compile.h"
#include "decode/description/end_to_end.h"
#include "decode/description/shapes.h"

namespace halyard::decode {
namespace {

constexpr std::size_t box_features = 4;
constexpr std::size_t default_bins = 8;  // of NanoDet

struct Combined {
  const ModelDescription& description;
  const NamedOutput& output;
  TensorAxes axes{};
  std::size_t features = 0;
  std::size_t boxes = 0;
  TrailingFeatures trailing{};
  std::optional<std::size_t> rows_axis{};  ///< see end_to_end_axis()
};

bool has_objectness(const ModelDescription& description, const OutputDescription& output) {
  if (output.score_format) return *output.score_format == ScoreFormat::obj_x_class;
  return description.decoder_version == "yolov5" && output.family == Family::ultralytics;
}

std::optional<TensorAxes> axes_without_names(const Combined& c) {
  const OutputDescription& output = *c.output.output;
  if (c.rows_axis) {
    const std::size_t first = output.shape.size() - 2;
    TensorAxes axes;
    if (output.shape.size() > 2) axes.batch = 0;
    axes.feature = c.rows_axis;
    axes.column = 2 * first + 1 - *c.rows_axis;  // the other one of the last two
    return axes;
  }
  if (!output.strides.empty()) {
    std::size_t boxes = 0;
    for (const std::uint32_t stride : output.strides)
      boxes += cells_of(c.description.input, stride);
    return flat_axes_by_shape(output.shape, {boxes, 0, true});
  }
  const std::size_t labels = c.description.labels.size();
  const std::size_t objectness = has_objectness(c.description, output) ? 1 : 0;
  return combined_axes_by_shape(
      output.shape, labels == 0 ? 0 : labels + box_features + c.trailing.count() + objectness);
}

Status find_axes(Combined& c) {
  const OutputDescription& output = *c.output.output;
  if (!output.axes.empty()) {
    HALYARD_TRY(c.axes, axes_by_name(c.output, false));
    HALYARD_ASSERT(c.axes.feature);
  } else {
    const auto found = axes_without_names(c);
    if (!found && !output.strides.empty())
      return wrong_output(c.output,
                          "outputs: no axis has as many boxes as the strides and input give");
    if (!found)
      return no_head(
          c.description,
          "without names for the axes, the shape must have rank 2 or 3 and two different extents, "
          "one of 5 or more and none of 4 (4 means boxes without scores)");
    c.axes = *found;
  }
  c.features = output.shape[*c.axes.feature];
  c.boxes = output.shape[*c.axes.column];
  return {};
}

Field field(std::size_t first, std::size_t count) {
  Field out;
  out.first = first;
  out.count = count;
  return out;
}

// The features that follow the scores.
void set_extras(const Combined& c, Level& level, std::size_t at) {
  const auto [coefficients, keypoints, angles] = c.trailing;
  if (coefficients != 0) level.coefficients = field(at, coefficients);
  if (keypoints != 0) level.keypoints = field(at + coefficients, keypoints);
  if (angles != 0) level.angles = field(at + coefficients + keypoints, angles);
}

void set_rows(const Combined& c, HeadProgram& program, Level& level) {
  HALYARD_ASSERT(c.features == end_to_end_features + c.trailing.count());  // see end_to_end_axis()
  program.name = "end-to-end detection";
  // Ultralytics writes rotated boxes as centre and size here too.
  program.coding = c.trailing.angles != 0 ? Coding::centre : Coding::corners;
  program.is_final = true;
  level.boxes = field(0, box_features);
  level.scores = field(box_features, 1);
  level.classes = field(box_features + 1, 1);
  set_extras(c, level, end_to_end_features);
}

Status set_yolo(const Combined& c, HeadProgram& program, Level& level) {
  const bool objectness = has_objectness(c.description, *c.output.output);
  const std::size_t first_class = box_features + (objectness ? 1 : 0);
  if (c.features < first_class + 1 + c.trailing.count())
    return no_head(c.description, fmt::format("num_features must be at least {}",
                                              first_class + 1 + c.trailing.count()));
  const bool detr = c.output->family == Family::detr;
  program.name = detr ? "DETR" : "YOLO detection";
  program.is_final = detr;
  program.coding = c.output->encoding == BoxEncoding::corners ? Coding::corners : Coding::centre;
  program.class_count = c.features - first_class - c.trailing.count();
  level.boxes = field(0, box_features);
  if (objectness) level.objectness = field(box_features, 1);
  level.scores = field(first_class, program.class_count);
  set_extras(c, level, first_class + program.class_count);
  return {};
}

// Splits one tensor that holds several levels in sequence.
Status split_levels(const Combined& c, HeadProgram& program) {
  const Size input = c.description.input;
  if (input.width <= 0 || input.height <= 0)
    return fail(Errc::invalid_argument, "input: levels of one tensor need the input's size");
  const Level whole = program.levels[0];
  program.levels.clear();
  std::size_t boxes = 0;
  for (const std::uint32_t stride : c.output->strides) {
    HALYARD_ASSERT(stride != 0);
    Level level = whole;
    level.first_box = boxes;
    level.rows = cells_along(input.height, stride);
    level.columns = cells_along(input.width, stride);
    level.stride_x = level.stride_y = static_cast<float>(stride);
    for (Field* f : level.fields())
      f->first_box = boxes;
    boxes += level.count();
    program.levels.push_back(std::move(level));
  }
  if (boxes == c.boxes) return {};
  return fail(Errc::invalid_argument, "outputs: strides must give as many boxes as the shape has",
              "{}: the strides give {}, the shape has {}", c.output.path, boxes, c.boxes);
}

Status set_nanodet(const Combined& c, HeadProgram& program, Level& level) {
  const std::size_t labels = c.description.labels.size();
  if (labels >= c.features)
    return wrong_output(c.output, "outputs: must have more features than labels");
  const std::size_t rest = labels == 0 ? 4 * default_bins : c.features - labels;
  if (rest % 4 != 0 || rest >= c.features)
    return wrong_output(c.output, "outputs: features must be the classes and four distributions");
  program.name = "NanoDet";
  program.coding = Coding::bins;
  program.bins = rest / 4;
  program.class_count = c.features - rest;
  level.scores = field(0, program.class_count);
  level.boxes = field(program.class_count, rest);
  return {};
}

}  // namespace

Result<HeadProgram> compile_combined(const ModelDescription& description, const Outputs& outputs) {
  const NamedOutput& output = outputs.detections[0];
  if (!output->parts.empty()) return no_head(description, "a detection split into several tensors");
  HeadProgram program;
  Combined c{description, output, {}, 0, 0, trailing_features(description)};
  if (outputs.prototypes && !outputs.coefficients) {
    HALYARD_TRY(c.trailing.coefficients, add_prototypes(program, description, outputs.prototypes));
  }
  HALYARD_TRY(c.rows_axis, end_to_end_axis(description, *output.output));
  HALYARD_RETURN_IF_ERROR(find_axes(c));
  program.box_units = output->box_units;
  program.keypoints = description.keypoints;
  program.scoring.activation = output->activation;
  Level level;
  level.columns = c.boxes;
  if (output->family == Family::nanodet) {
    HALYARD_RETURN_IF_ERROR(set_nanodet(c, program, level));
  } else if (c.rows_axis) {
    set_rows(c, program, level);
  } else {
    HALYARD_RETURN_IF_ERROR(set_yolo(c, program, level));
  }
  const std::size_t tensor = add_tensor(program, output, c.axes);
  for (Field* f : level.fields())
    f->tensor = tensor;
  HALYARD_RETURN_IF_ERROR(add_extras(program, description, outputs, level));
  program.levels.push_back(std::move(level));
  if (!output->strides.empty()) {
    HALYARD_RETURN_IF_ERROR(split_levels(c, program));
  }
  return program;
}

}  // namespace halyard::decode
