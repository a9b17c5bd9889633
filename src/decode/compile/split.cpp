// SPDX-License-Identifier: Apache-2.0
// Boxes, scores and the rest in flat tensors of their own.
#include <algorithm>

#include "base/text/format_error.h"
#include "decode/compile/compile.h"
#include "decode/description/shapes.h"

namespace halyard::decode {
namespace {

constexpr std::size_t coordinates = 4;

// Shapes without names: ModelPack, SSD and DETR put boxes before features.
bool puts_boxes_first(Family family) {
  return family == Family::modelpack || family == Family::ssd || family == Family::detr;
}

// The one part of an output that has a single one, else the output.
NamedOutput only_part(const NamedOutput& output) {
  return output->parts.size() == 1 ? output.part(0) : output;
}

NamedOutput part_of(const NamedOutput& output, OutputRole role) {
  return output.find_part([role](const OutputDescription& part) { return part.role == role; });
}

std::size_t boxes_of(const Program& program, const Field& field) {
  const TensorPlan& plan = program.tensors[field.tensor];
  return extent(plan.shape, plan.column_axis);
}

// Coordinates in one tensor, or centres and extents in two.
Status add_boxes(Program& program, const ModelDescription& description, const NamedOutput& output,
                 Level& level) {
  FlatHint hint;
  hint.boxes_first = puts_boxes_first(output->family);
  const NamedOutput centres = part_of(output, OutputRole::boxes_xy);
  if (output->parts.size() == 2 && centres) {
    const NamedOutput extents = part_of(output, OutputRole::boxes_wh);
    if (!extents) return no_head(description, "boxes_xy without boxes_wh");
    hint.features = coordinates / 2;
    HALYARD_TRY(level.boxes, add_flat(program, description, centres, hint));
    hint.boxes = boxes_of(program, level.boxes);
    HALYARD_TRY(level.sizes, add_flat(program, description, extents, hint));
  } else {
    hint.features = coordinates;
    HALYARD_TRY(level.boxes, add_flat(program, description, only_part(output), hint));
  }
  level.columns = boxes_of(program, level.boxes);
  return {};
}

Result<Coding> coding_of(const ModelDescription& description, const NamedOutput& boxes,
                         bool end_to_end) {
  const BoxEncoding by_family = boxes->family == Family::modelpack || end_to_end
                                    ? BoxEncoding::corners
                                : boxes->family == Family::ssd ? BoxEncoding::prior
                                                               : BoxEncoding::direct;
  switch (boxes->encoding.value_or(by_family)) {
    case BoxEncoding::direct:
      return end_to_end || boxes->family == Family::modelpack ? Coding::corners : Coding::centre;
    case BoxEncoding::corners:
      return Coding::corners;
    case BoxEncoding::prior:
      return Coding::prior;
    default:
      return no_head(description, fmt::format("boxes coded as {} need parts with strides",
                                              to_string(*boxes->encoding)));
  }
}

Status add_scores(Program& program, const ModelDescription& description, const Outputs& outputs,
                  Level& level) {
  const NamedOutput scores = only_part(outputs.scores);
  FlatHint hint{level.columns, outputs.classes ? std::size_t{1} : 0,
                puts_boxes_first(outputs.boxes->family)};
  HALYARD_TRY(level.scores, add_flat(program, description, scores, hint));
  if (outputs.classes) {
    if (level.scores.count != 1)
      return wrong_output(outputs.scores, "outputs: beside classes a box has one score");
    HALYARD_TRY(level.classes, add_flat(program, description, only_part(outputs.classes), hint));
    return {};
  }
  if (outputs.boxes->family == Family::ssd) {  // the first is the background
    if (level.scores.count < 2)
      return wrong_output(outputs.scores, "outputs: scores of SSD have a background and a class");
    ++level.scores.first;
    --level.scores.count;
    program.scoring.background = true;
  }
  program.class_count = level.scores.count;
  return {};
}

Status add_objectness(Program& program, const ModelDescription& description, const Outputs& outputs,
                      Level& level) {
  const bool is_product = outputs.scores->score_format == ScoreFormat::obj_x_class;
  if (!outputs.objectness) {
    return is_product ? Status(no_head(description, "obj_x_class without an objectness output"))
                      : Status();
  }
  HALYARD_TRY(level.objectness,
              add_flat(program, description, only_part(outputs.objectness), {level.columns, 1}));
  return {};
}

Status add_priors(Program& program, const ModelDescription& description, const Outputs& outputs,
                  Level& level) {
  if (program.coding != Coding::prior) return {};
  if (!outputs.priors) return no_head(description, "offsets of priors without a priors output");
  HALYARD_TRY(level.priors,
              add_flat(program, description, outputs.priors, {level.columns, coordinates, true}));
  return {};
}

}  // namespace

Result<Field> add_flat(Program& program, const ModelDescription& description,
                       const NamedOutput& output, const FlatHint& hint) {
  if (!output->parts.empty())
    return no_head(description, output.path + " is split in a way that is not known");
  TensorAxes axes;
  if (!output->axes.empty()) {
    HALYARD_TRY(axes, axes_by_name(output, false));
  } else if (const auto found = flat_axes_by_shape(output->shape, hint)) {
    axes = *found;
  } else {
    return wrong_output(output, "outputs: shape has not the boxes and features that others have");
  }
  const std::size_t features = extent(output->shape, axes.feature);
  if (hint.boxes != 0 && extent(output->shape, axes.column) != hint.boxes) {
    return fail(Errc::invalid_argument, "outputs: all must have as many boxes", "{}: {}, not {}",
                output.path, extent(output->shape, axes.column), hint.boxes);
  }
  if (hint.features != 0 && features != hint.features) {
    return fail(Errc::invalid_argument, "outputs: features of each box", "{}: {}, expected {}",
                output.path, features, hint.features);
  }
  Field field;
  field.tensor = add_tensor(program, output, axes);
  field.count = features;
  return field;
}

Status add_extras(Program& program, const ModelDescription& description, const Outputs& outputs,
                  Level& level) {
  if (outputs.coefficients) {
    if (!outputs.prototypes) return no_head(description, "mask coefficients without prototypes");
    HALYARD_TRY(const std::size_t k, add_prototypes(program, description, outputs.prototypes));
    HALYARD_TRY(level.coefficients, add_flat(program, description, only_part(outputs.coefficients),
                                             {level.columns, k}));
  }
  if (outputs.keypoints) {
    if (!description.keypoints)
      return no_head(description, "keypoints of unknown count and dimensions");
    HALYARD_TRY(level.keypoints, add_flat(program, description, only_part(outputs.keypoints),
                                          {level.columns, features_of(*description.keypoints)}));
  }
  if (outputs.angles) {
    HALYARD_TRY(level.angles,
                add_flat(program, description, only_part(outputs.angles), {level.columns, 1}));
  }
  return {};
}

Result<Program> lower_split(const ModelDescription& description, const Outputs& outputs) {
  Program program;
  program.name = "split detection";
  program.box_units = outputs.boxes->box_units;
  program.keypoints = description.keypoints;
  program.scoring.activation = outputs.scores->activation;
  const bool end_to_end = bool(outputs.classes) || description.decoder_version == "yolo26";
  program.is_final = end_to_end || outputs.boxes->family == Family::detr;
  Level level;
  HALYARD_CHECK(add_boxes(program, description, outputs.boxes, level));
  HALYARD_TRY(program.coding, coding_of(description, outputs.boxes, end_to_end && !outputs.angles));
  HALYARD_CHECK(add_scores(program, description, outputs, level));
  HALYARD_CHECK(add_objectness(program, description, outputs, level));
  HALYARD_CHECK(add_priors(program, description, outputs, level));
  HALYARD_CHECK(add_extras(program, description, outputs, level));
  if (outputs.prototypes && !level.coefficients)
    return no_head(description, "prototypes without mask coefficients");
  program.levels.push_back(std::move(level));
  return program;
}

}  // namespace halyard::decode
