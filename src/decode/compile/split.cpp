// SPDX-License-Identifier: Apache-2.0
// Compiles outputs that hold boxes, scores and the other roles in separate flat tensors.
#include <algorithm>

#include "base/assert.h"
#include "base/text/format_error.h"
#include "decode/compile/compile.h"
#include "decode/description/shapes.h"

namespace halyard::decode {
namespace {

constexpr std::size_t coordinates = 4;

// For shapes without names: ModelPack, SSD and DETR put the axis of boxes before the axis of
// features.
bool puts_boxes_first(Family family) {
  return family == Family::modelpack || family == Family::ssd || family == Family::detr;
}

NamedOutput part_with_role(const NamedOutput& output, OutputRole role) {
  return output.find_part([role](const OutputDescription& part) { return part.role == role; });
}

std::size_t count_boxes(const HeadProgram& program, const Field& field) {
  const TensorPlan& plan = program.tensors[field.tensor];
  return extent(plan.shape, plan.column_axis);
}

// Adds the coordinates: one tensor, or one of centres and one of sizes.
Status add_boxes(HeadProgram& program, const ModelDescription& description,
                 const NamedOutput& output, Level& level) {
  FlatHint hint;
  hint.boxes_first = puts_boxes_first(output->family);
  const NamedOutput centres = part_with_role(output, OutputRole::boxes_xy);
  if (output->parts.size() == 2 && centres) {
    const NamedOutput extents = part_with_role(output, OutputRole::boxes_wh);
    if (!extents) return no_head(description, "boxes_xy without boxes_wh");
    hint.features = coordinates / 2;
    HALYARD_TRY(level.boxes, add_flat(program, description, centres, hint));
    hint.boxes = count_boxes(program, level.boxes);
    HALYARD_TRY(level.sizes, add_flat(program, description, extents, hint));
  } else {
    hint.features = coordinates;
    HALYARD_TRY(level.boxes, add_flat(program, description, only_part(output), hint));
  }
  level.columns = count_boxes(program, level.boxes);
  return {};
}

Result<Coding> choose_coding(const ModelDescription& description, const NamedOutput& boxes,
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

Status add_scores(HeadProgram& program, const ModelDescription& description, const Outputs& outputs,
                  Level& level) {
  const NamedOutput scores = only_part(outputs.scores);
  FlatHint hint{level.columns, outputs.classes ? std::size_t{1} : 0,
                puts_boxes_first(outputs.boxes->family)};
  HALYARD_TRY(level.scores, add_flat(program, description, scores, hint));
  if (outputs.classes) {
    HALYARD_ASSERT(level.scores.count == 1);  // see the hint
    HALYARD_TRY(level.classes, add_flat(program, description, only_part(outputs.classes), hint));
    return {};
  }
  if (outputs.boxes->family == Family::ssd) {  // the first class is the background
    if (level.scores.count < 2)
      return wrong_output(outputs.scores,
                          "outputs: scores of SSD must have a background and at least one class");
    ++level.scores.first;
    --level.scores.count;
    program.scoring.background = true;
  }
  program.class_count = level.scores.count;
  return {};
}

Status add_objectness(HeadProgram& program, const ModelDescription& description,
                      const Outputs& outputs, Level& level) {
  const bool is_product = outputs.scores->score_format == ScoreFormat::obj_x_class;
  if (!outputs.objectness) {
    return is_product ? Status(no_head(description, "obj_x_class without an objectness output"))
                      : Status();
  }
  HALYARD_TRY(level.objectness,
              add_flat(program, description, only_part(outputs.objectness), {level.columns, 1}));
  return {};
}

Status add_priors(HeadProgram& program, const ModelDescription& description, const Outputs& outputs,
                  Level& level) {
  if (program.coding != Coding::prior) return {};
  if (!outputs.priors) return no_head(description, "offsets of priors without a priors output");
  HALYARD_TRY(level.priors,
              add_flat(program, description, outputs.priors, {level.columns, coordinates, true}));
  return {};
}

}  // namespace

Result<HeadProgram> compile_split(const ModelDescription& description, const Outputs& outputs) {
  HeadProgram program;
  program.name = "split detection";
  program.box_units = outputs.boxes->box_units;
  program.keypoints = description.keypoints;
  program.scoring.activation = outputs.scores->activation;
  const bool end_to_end = bool(outputs.classes) || description.decoder_version == "yolo26";
  program.is_final = end_to_end || outputs.boxes->family == Family::detr;
  Level level;
  HALYARD_RETURN_IF_ERROR(add_boxes(program, description, outputs.boxes, level));
  HALYARD_TRY(program.coding,
              choose_coding(description, outputs.boxes, end_to_end && !outputs.angles));
  HALYARD_RETURN_IF_ERROR(add_scores(program, description, outputs, level));
  HALYARD_RETURN_IF_ERROR(add_objectness(program, description, outputs, level));
  HALYARD_RETURN_IF_ERROR(add_priors(program, description, outputs, level));
  HALYARD_RETURN_IF_ERROR(add_extras(program, description, outputs, level));
  if (outputs.prototypes && !level.coefficients)
    return no_head(description, "prototypes without mask coefficients");
  program.levels.push_back(std::move(level));
  return program;
}

}  // namespace halyard::decode
