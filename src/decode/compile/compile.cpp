// SPDX-License-Identifier: Apache-2.0
// Sorts the outputs of a description by role and chooses the function that compiles them.
#include <fmt/ranges.h>

#include "base/assert.h"
#include "base/text/format_error.h"
#include "decode/compile/compile.h"
#include "decode/description/shapes.h"

namespace halyard::decode {
namespace {

std::string describe_shapes(const ModelDescription& description) {
  std::string out;
  for (const auto& output : description.outputs) {
    if (!out.empty()) out += ", ";
    if (output.role != OutputRole::detection && output.role != OutputRole::auxiliary)
      out += fmt::format("{} ", to_string(output.role));
    out += fmt::format("[{}]", fmt::join(output.shape, ", "));
  }
  return out.empty() ? "none" : out;
}

NamedOutput* output_slot(Outputs& outputs, OutputRole role) {
  switch (role) {
    case OutputRole::boxes:
      return &outputs.boxes;
    case OutputRole::scores:
      return &outputs.scores;
    case OutputRole::objectness:
      return &outputs.objectness;
    case OutputRole::classes:
      return &outputs.classes;
    case OutputRole::mask_coefficients:
      return &outputs.coefficients;
    case OutputRole::prototypes:
      return &outputs.prototypes;
    case OutputRole::keypoints:
      return &outputs.keypoints;
    case OutputRole::angles:
      return &outputs.angles;
    case OutputRole::priors:
      return &outputs.priors;
    case OutputRole::segmentation:
      return &outputs.segmentation;
    case OutputRole::classification:
      return &outputs.classification;
    default:
      return nullptr;
  }
}

// Whether a tensor is a grid of anchors rather than a list of boxes.
bool is_anchor_grid(const OutputDescription& output) {
  return output.encoding ? *output.encoding == BoxEncoding::anchor : !output.anchors.empty();
}

}  // namespace

Error no_head(const ModelDescription& description, std::string_view reason) {
  return fail(Errc::unsupported, "outputs: no detection head fits them",
              "{}; shapes seen: {}; see docs/decode.md for the layouts known", reason,
              describe_shapes(description));
}

Result<Outputs> outputs_by_role(const ModelDescription& description) {
  Outputs out;
  for (std::size_t i = 0; i < description.outputs.size(); ++i) {
    const OutputDescription& output = description.outputs[i];
    const NamedOutput named{&output, fmt::format("outputs[{}]", i), out.tensor_count};
    out.tensor_count += output.parts.empty() ? 1 : output.parts.size();
    if (output.role == OutputRole::auxiliary) continue;
    if (output.role == OutputRole::detection) {
      out.detections.push_back(named);
      continue;
    }
    NamedOutput* const slot = output_slot(out, output.role);
    if (slot == nullptr)
      return no_head(description,
                     fmt::format("role \"{}\" is not decoded", to_string(output.role)));
    HALYARD_ASSERT(!*slot);
    *slot = named;
  }
  return out;
}

std::size_t add_tensor(HeadProgram& program, const NamedOutput& output, const TensorAxes& axes) {
  TensorPlan plan;
  plan.name = output->name;
  plan.path = output.path;
  plan.position = output.position;
  plan.role = output->role;
  plan.shape = output->shape;
  plan.batch_axis = axes.batch;
  plan.feature_axis = axes.feature;
  plan.row_axis = axes.row;
  plan.column_axis = axes.column;
  plan.anchor_axis = axes.anchor;
  plan.dtype = output->dtype;
  plan.quantization = output->quantization;
  program.tensors.push_back(std::move(plan));
  return program.tensors.size() - 1;
}

Result<std::size_t> add_prototypes(HeadProgram& program, const ModelDescription& description,
                                   const NamedOutput& output) {
  if (!output->parts.empty()) return no_head(description, "prototypes split into several tensors");
  TensorAxes axes;
  if (!output->axes.empty()) {
    HALYARD_TRY(axes, axes_by_name(output, true));
  } else {
    const auto found =
        grid_axes_by_shape(output->shape, {prototype_count(*output.output, description.input)});
    HALYARD_ASSERT(found && !found->anchor);
    axes = *found;
  }
  HALYARD_ASSERT(axes.feature);
  const std::size_t before = axes.batch ? 1 : 0;
  const bool in_order = output->shape.size() == 3 + before && (!axes.batch || axes.batch == 0U) &&
                        *axes.column == *axes.row + 1 &&
                        (*axes.row == before || *axes.feature == before);
  if (!in_order)
    return wrong_output(
        output,
        "outputs: axes of prototypes must be batch, then num_protos, height, width or "
        "height, width, num_protos");
  program.prototypes = add_tensor(program, output, axes);
  return output->shape[*axes.feature];
}

Result<HeadProgram> compile_program(const ModelDescription& description) {
  HALYARD_TRY(const Outputs outputs, outputs_by_role(description));
  const bool grids = !outputs.detections.empty() && is_anchor_grid(*outputs.detections[0].output);
  const auto lowered = [&]() -> Result<HeadProgram> {
    if (outputs.classification) return compile_classes(description, outputs);
    if (grids) return compile_anchor_grids(description, outputs);
    if (outputs.detections.size() > 1) return no_head(description, "several detection outputs");
    if (!outputs.detections.empty()) return compile_combined(description, outputs);
    if (!outputs.boxes || !outputs.scores)
      return no_head(description, "no detection output, nor boxes and scores");
    const auto& parts = outputs.boxes->parts;
    return !parts.empty() && parts[0].stride ? compile_levels(description, outputs)
                                             : compile_split(description, outputs);
  };
  HALYARD_TRY(HeadProgram program, lowered());
  const bool is_rotated = bool(program.levels[0].angles);
  if (is_rotated && (program.coding == Coding::corners || program.coding == Coding::prior))
    return no_head(description, "angles need boxes coded as centres, distances or bins");
  if (const auto arrangement = arrangement_of(description)) program.name = to_string(*arrangement);
  program.tensor_count = outputs.tensor_count;
  return program;
}

Result<Field> add_flat(HeadProgram& program, const ModelDescription& description,
                       const NamedOutput& output, const FlatHint& hint) {
  if (!output->parts.empty())
    return no_head(description, output.path + " is split into several tensors");
  TensorAxes axes;
  if (!output->axes.empty()) {
    HALYARD_TRY(axes, axes_by_name(output, false));
  } else if (const auto found = flat_axes_by_shape(output->shape, hint)) {
    axes = *found;
  } else {
    return wrong_output(output,
                        "outputs: the shape does not fit the boxes and features of the others");
  }
  const std::size_t features = extent(output->shape, axes.feature);
  if (hint.boxes != 0 && extent(output->shape, axes.column) != hint.boxes) {
    return fail(Errc::invalid_argument, "outputs: all must have the same number of boxes",
                "{}: {}, others have {}", output.path, extent(output->shape, axes.column),
                hint.boxes);
  }
  if (hint.features != 0 && features != hint.features) {
    return fail(Errc::invalid_argument, "outputs: a box has a wrong number of features",
                "{}: {} features, expected {}", output.path, features, hint.features);
  }
  Field field;
  field.tensor = add_tensor(program, output, axes);
  field.count = features;
  return field;
}

Status add_extras(HeadProgram& program, const ModelDescription& description, const Outputs& outputs,
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

NamedOutput only_part(const NamedOutput& output) {
  return output->parts.size() == 1 ? output.part(0) : output;
}

}  // namespace halyard::decode
