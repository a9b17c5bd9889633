// SPDX-License-Identifier: Apache-2.0
// Completes descriptions from programs and documents by the reference's conventions.
#include "compat/lowered.h"

#include <algorithm>
#include <array>

#include "base/text/format_error.h"

namespace halyard::compat {
namespace {

constexpr std::array<OutputRole, 8> roles{OutputRole::detection,    OutputRole::boxes,
                                          OutputRole::scores,       OutputRole::prototypes,
                                          OutputRole::segmentation, OutputRole::mask_coefficients,
                                          OutputRole::class_map,    OutputRole::classes};

constexpr std::array<AxisName, 10> axis_names{
    AxisName::batch,        AxisName::height,
    AxisName::width,        AxisName::num_classes,
    AxisName::num_features, AxisName::num_boxes,
    AxisName::num_protos,   AxisName::num_anchors_x_features,
    AxisName::padding,      AxisName::box_coords};

constexpr std::array<const char*, 4> versions{"yolov5", "yolov8", "yolo11", "yolo26"};

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

void add_expected(Lowered& out, const OutputDescription& output) {
  ExpectedTensor tensor{output.name, output.shape, std::nullopt, output.role == OutputRole::priors,
                        output.quantization};
  const auto batch = std::find(output.axes.begin(), output.axes.end(), AxisName::batch);
  if (batch != output.axes.end())
    tensor.batch_axis = static_cast<std::size_t>(batch - output.axes.begin());
  else if (output.axes.empty() && !output.shape.empty())
    tensor.batch_axis = 0;
  out.tensors.push_back(std::move(tensor));
}

void list_tensors(Lowered& out) {
  for (const OutputDescription& output : out.description.outputs) {
    if (output.role == OutputRole::segmentation && output.parts.empty()) {
      out.segmentation = out.tensors.size();
      out.segmentation_output = output;
    }
    if (output.role == OutputRole::prototypes) {
      out.has_masks = true;
      out.prototypes = out.tensors.size();
    }
    if (output.parts.empty()) add_expected(out, output);
    for (const OutputDescription& part : output.parts)
      add_expected(out, part);
  }
}

bool has_levels(const ModelDescription& description) {
  return std::any_of(
      description.outputs.begin(), description.outputs.end(), [](const OutputDescription& output) {
        return !output.strides.empty() ||
               (output.role == OutputRole::boxes && !output.parts.empty() &&
                output.parts.front().stride) ||
               (output.role == OutputRole::detection && output.family == Family::nanodet);
      });
}

bool has_grids(const ModelDescription& description) {
  return std::any_of(description.outputs.begin(), description.outputs.end(),
                     [](const OutputDescription& output) {
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
Status use_pixels(Lowered& out) {
  const bool are_fractions = declared_units(out.description).value_or(false);
  out.normalized = false;
  if (out.input) return {};
  if (are_fractions)
    return make_error(Errc::invalid_argument,
                      "input_dims: boxes in fractions need the size of the network's input");
  if (!out.has_masks) return {};
  return make_error(Errc::invalid_argument,
                    "input_dims: masks need the size of the network's input");
}

void choose_units(Lowered& out) {
  ModelDescription& description = out.description;
  out.normalized = declared_units(description);
  if (has_grids(description)) {
    use_unit_input(description);
    out.normalized = true;
    return;
  }
  if (has_levels(description)) {
    out.scale = out.input ? BoxScale::by_input : BoxScale::none;
    out.normalized = out.input.has_value();
    return;
  }
  for (OutputDescription& output : description.outputs) {
    output.box_units.reset();
    if (output.role == OutputRole::detection || output.role == OutputRole::boxes)
      output.box_units = BoxUnits::pixels;
  }
  if (out.has_masks && out.normalized == false && out.input) {
    out.scale = BoxScale::by_input;
    out.normalized = true;
  }
}

}  // namespace

Result<Lowered> lower(const ModelDescription& document, std::optional<Size> input_dims,
                      Convention convention) {
  HALYARD_RETURN_IF_ERROR(validate(document));
  Lowered out;
  out.description = document;
  ModelDescription& description = out.description;
  if (input_dims) {
    if (input_dims->width <= 0 || input_dims->height <= 0)
      return fail(Errc::invalid_argument, "input_dims: width and height must be above 0", "{} x {}",
                  input_dims->width, input_dims->height);
    description.input = *input_dims;
  }
  if (description.input.width > 0 && description.input.height > 0) out.input = description.input;
  for (OutputDescription& output : description.outputs) {
    // A class map beside other outputs is ignored.
    if (output.role == OutputRole::class_map && output.family == Family::modelpack)
      output.role = OutputRole::auxiliary;
    complete_axes(output, description);
    if (convention == Convention::reference) complete_quantization(output);
  }
  HALYARD_TRY(const Arrangement arrangement, arrangement_of(description));
  out.model_type = to_string(arrangement);
  out.has_boxes =
      arrangement != Arrangement::modelpack_seg && arrangement != Arrangement::semantic_seg;
  out.has_angles = arrangement == Arrangement::yolo_obb_det ||
                   arrangement == Arrangement::yolo_split_obb_det ||
                   arrangement == Arrangement::yolo_end_to_end_obb_det ||
                   arrangement == Arrangement::yolo_per_scale_obb_det;
  list_tensors(out);
  if (convention == Convention::native) HALYARD_RETURN_IF_ERROR(use_pixels(out));
  if (convention == Convention::reference) choose_units(out);
  return out;
}

Result<ModelDescription> describe(std::span<const Output> outputs,
                                  std::optional<DecoderVersion> version) {
  ModelDescription out;
  if (version) {
    const auto index = static_cast<std::size_t>(*version);
    if (index >= versions.size())
      return fail(Errc::invalid_argument, "decoder_version: no such version", "{}", index);
    out.decoder_version = versions[index];
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Output& from = outputs[i];
    const auto kind = static_cast<std::size_t>(from.kind);
    if (kind >= roles.size())
      return fail(Errc::invalid_argument, "outputs: no such kind", "outputs[{}]: {}", i, kind);
    if (from.family != OutputFamily::ultralytics && from.family != OutputFamily::modelpack)
      return fail(Errc::invalid_argument, "outputs: no such decoder", "outputs[{}]: {}", i,
                  static_cast<int>(from.family));
    if (!from.anchors.empty() && from.kind != OutputKind::detection)
      return fail(Errc::invalid_argument, "anchors: only valid for detections", "outputs[{}]", i);
    if (from.normalized && from.kind != OutputKind::detection && from.kind != OutputKind::boxes)
      return fail(Errc::invalid_argument, "normalized: only valid for detections and boxes",
                  "outputs[{}]", i);
    OutputDescription& to = out.outputs.emplace_back();
    to.role = roles[kind];
    to.family = from.family == OutputFamily::modelpack ? Family::modelpack : Family::ultralytics;
    to.shape = from.shape;
    for (const DimName name : from.dims) {
      const auto at = static_cast<std::size_t>(name);
      if (at >= axis_names.size())
        return fail(Errc::invalid_argument, "dims: no such axis", "outputs[{}]: {}", i, at);
      to.axes.push_back(axis_names[at]);
    }
    if (from.is_quantized || from.scale != 1 || from.zero_point != 0)
      to.quantization = Quantization::per_tensor(from.scale, from.zero_point);
    to.anchors = from.anchors;
    if (!to.anchors.empty()) to.encoding = BoxEncoding::anchor;
    if (from.normalized) to.box_units = *from.normalized ? BoxUnits::fraction : BoxUnits::pixels;
  }
  return out;
}

}  // namespace halyard::compat
