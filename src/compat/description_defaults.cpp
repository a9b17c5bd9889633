// SPDX-License-Identifier: Apache-2.0
// Completes descriptions from programs and documents by the reference's conventions.
#include "compat/description_defaults.h"

#include <algorithm>
#include <array>

#include "base/text/format_error.h"

namespace halyard::compat {
namespace {

constexpr std::array<OutputRole, 8> roles{OutputRole::detection,    OutputRole::boxes,
                                          OutputRole::scores,       OutputRole::prototypes,
                                          OutputRole::segmentation, OutputRole::mask_coefficients,
                                          OutputRole::class_map,    OutputRole::classes};

constexpr std::array<Family, 2> families{Family::ultralytics, Family::modelpack};

constexpr std::array<const char*, 4> versions{"yolov5", "yolov8", "yolo11", "yolo26"};

// Both count the same axes in the same order.
constexpr AxisName axis_of(DimName name) noexcept {
  return static_cast<AxisName>(static_cast<int>(name) + static_cast<int>(AxisName::batch));
}
static_assert(axis_of(DimName::num_protos) == AxisName::num_protos &&
              axis_of(DimName::box_coords) == AxisName::box_coords);

// The entry of an enumerator.
template <class T, std::size_t N, class E>
Result<T> entry(const std::array<T, N>& table, E enumerator, const char* rule) {
  const auto index = static_cast<std::size_t>(enumerator);
  if (index < N) return table[index];
  return fail(Errc::invalid_argument, rule, "{}", index);
}

bool is_grid(const OutputDescription& output) {
  return output.encoding ? *output.encoding == BoxEncoding::anchor : !output.anchors.empty();
}

// Without axis names, axes have the canonical order. Outputs with rows of boxes are recognized by
// their shape: no network has that many features and so few boxes.
void complete_axes(OutputDescription& output, const ModelDescription& description) {
  if (output.role != OutputRole::detection || !output.axes.empty() || !output.parts.empty()) return;
  if (is_grid(output)) {
    if (output.shape.size() == 4)
      output.axes = {AxisName::batch, AxisName::height, AxisName::width,
                     AxisName::num_anchors_x_features};
    return;
  }
  if (output.family != Family::ultralytics || output.shape.size() != 3) return;
  constexpr std::size_t few = 300;
  const bool is_rows = output.shape[1] >= few && output.shape[2] >= 5 && output.shape[2] < few;
  if (is_rows || description.decoder_version == versions[3] || !output.strides.empty()) return;
  output.axes = {AxisName::batch, AxisName::num_features, AxisName::num_boxes};
}

// Integers without quantization get scale 1.
void complete_quantization(OutputDescription& output) {
  if (!output.parts.empty() || output.quantization) return;
  if (output.dtype && !is_integer(*output.dtype)) return;
  output.quantization = Quantization::per_tensor(1);
}

std::optional<bool> declared_units(const ModelDescription& description) {
  for (const OutputDescription& output : description.outputs) {
    if (output.role != OutputRole::detection && output.role != OutputRole::boxes) continue;
    if (!output.box_units) return std::nullopt;
    return *output.box_units == BoxUnits::fraction;
  }
  return std::nullopt;
}

bool has_levels(const ModelDescription& description) {
  return std::ranges::any_of(description.outputs, [](const OutputDescription& output) {
    return !output.strides.empty() ||
           (output.role == OutputRole::boxes && !output.parts.empty() &&
            output.parts.front().stride) ||
           (output.role == OutputRole::detection && output.family == Family::nanodet);
  });
}

bool has_grids(const ModelDescription& description) {
  return std::ranges::any_of(description.outputs, [](const OutputDescription& output) {
    return output.role == OutputRole::detection && is_grid(output);
  });
}

// With an input of 1 x 1 pixels, grids give fractions of it.
void use_unit_input(ModelDescription& description) {
  description.input = {1, 1};
  for (OutputDescription& output : description.outputs) {
    output.stride.reset();
    for (OutputDescription& part : output.parts)
      part.stride.reset();
  }
}

// Uses halyard::Decoder's own units: pixels, whatever the tensors contain.
Status use_pixels(CompletedModel& out) {
  const bool are_fractions = declared_units(out.description).value_or(false);
  out.normalized = false;
  if (out.input || (!are_fractions && !out.prototypes)) return {};
  return make_error(Errc::invalid_argument,
                    are_fractions
                        ? "input_dims: boxes in fractions need the size of the network's input"
                        : "input_dims: masks need the size of the network's input");
}

void choose_units(CompletedModel& out) {
  ModelDescription& description = out.description;
  out.normalized = declared_units(description);
  if (has_grids(description)) {
    use_unit_input(description);
    out.normalized = true;
    return;
  }
  if (has_levels(description)) {
    out.is_scaled = out.input.has_value();
    out.normalized = out.is_scaled;
    return;
  }
  for (OutputDescription& output : description.outputs) {
    output.box_units.reset();
    if (output.role == OutputRole::detection || output.role == OutputRole::boxes)
      output.box_units = BoxUnits::pixels;
  }
  if (out.prototypes && out.normalized == false && out.input) {
    out.is_scaled = true;
    out.normalized = true;
  }
}

void complete_outputs(ModelDescription& description, Convention convention) {
  for (OutputDescription& output : description.outputs) {
    // A class map beside other outputs is ignored.
    if (output.role == OutputRole::class_map && output.family == Family::modelpack)
      output.role = OutputRole::auxiliary;
    complete_axes(output, description);
    if (convention == Convention::reference) complete_quantization(output);
  }
}

void find_outputs(CompletedModel& out) {
  out.outputs = OutputMatcher(out.description);
  const auto& outputs = out.outputs.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].role == OutputRole::segmentation) out.segmentation = i;
    if (outputs[i].role == OutputRole::prototypes) out.prototypes = i;
  }
}

}  // namespace

Result<CompletedModel> complete(const ModelDescription& document, std::optional<Size> input_dims,
                                Convention convention) {
  HALYARD_RETURN_IF_ERROR(validate(document));
  CompletedModel out;
  out.description = document;
  Size& input = out.description.input;
  input = input_dims.value_or(input);
  const bool is_known = input.width > 0 && input.height > 0;
  if (input_dims && !is_known)
    return fail(Errc::invalid_argument, "input_dims: width and height must be above 0", "{} x {}",
                input.width, input.height);
  if (is_known) out.input = input;
  complete_outputs(out.description, convention);
  HALYARD_TRY(const Arrangement arrangement, arrangement_of(out.description));
  out.model_type = to_string(arrangement);
  out.has_boxes =
      arrangement != Arrangement::modelpack_seg && arrangement != Arrangement::semantic_seg;
  out.has_angles = arrangement == Arrangement::yolo_obb_det ||
                   arrangement == Arrangement::yolo_split_obb_det ||
                   arrangement == Arrangement::yolo_end_to_end_obb_det ||
                   arrangement == Arrangement::yolo_per_scale_obb_det;
  find_outputs(out);
  if (convention == Convention::native) HALYARD_RETURN_IF_ERROR(use_pixels(out));
  if (convention == Convention::reference) choose_units(out);
  return out;
}

namespace {

Status describe_output(const Output& from, OutputDescription& to) {
  HALYARD_TRY(to.role, entry(roles, from.kind, "kind: no such kind of output"));
  HALYARD_TRY(to.family, entry(families, from.family, "family: no such decoder"));
  if (!from.anchors.empty() && !may_have_anchors(from.kind))
    return make_error(Errc::invalid_argument, "anchors: only valid for detections");
  if (from.normalized && !may_be_normalized(from.kind))
    return make_error(Errc::invalid_argument, "normalized: only valid for detections and boxes");
  to.shape = from.shape;
  for (const DimName name : from.dims) {
    if (name > DimName::box_coords)
      return fail(Errc::invalid_argument, "dims: no such axis", "{}", static_cast<int>(name));
    to.axes.push_back(axis_of(name));
  }
  if (from.is_quantized || from.scale != 1 || from.zero_point != 0)
    to.quantization = Quantization::per_tensor(from.scale, from.zero_point);
  to.anchors = from.anchors;
  if (!to.anchors.empty()) to.encoding = BoxEncoding::anchor;
  if (from.normalized) to.box_units = *from.normalized ? BoxUnits::fraction : BoxUnits::pixels;
  return {};
}

}  // namespace

Result<ModelDescription> describe(std::span<const Output> outputs,
                                  std::optional<DecoderVersion> version) {
  ModelDescription out;
  if (version) {
    HALYARD_TRY(out.decoder_version, entry(versions, *version, "decoder_version: no such version"));
  }
  for (const Output& from : outputs)
    HALYARD_RETURN_IF_ERROR(describe_output(from, out.outputs.emplace_back()));
  return out;
}

}  // namespace halyard::compat
