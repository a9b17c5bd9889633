// SPDX-License-Identifier: Apache-2.0
// Writes a description as a document of version 2. Keys are in the order that suits human readers.
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/text/format_error.h"
#include "decode/description/names.h"
#include "decode/description/serialize.h"
#include "halyard/description.h"

namespace halyard {
namespace {

using Json = nlohmann::ordered_json;

// The double with the fewest digits that converts to exactly this float.
double short_value(float value) {
  const std::string text = fmt::format("{}", value);
  double shortest = 0;
  const auto end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, shortest);
  const bool is_exact = result.ec == std::errc{} && static_cast<float>(shortest) == value;
  return is_exact ? shortest : static_cast<double>(value);
}

// Axes whose names are unknown to this version are written as "unknown". They read back the same.
Json axes_to_json(const OutputDescription& output) {
  Json out = Json::array();
  for (std::size_t i = 0; i < output.axes.size() && i < output.shape.size(); ++i)
    out.push_back(Json::array({std::string(to_string(output.axes[i])), output.shape[i]}));
  return out;
}

Json quantization_to_json(const OutputDescription& output) {
  const Quantization& quantization = *output.quantization;
  Json out;
  if (quantization.is_per_tensor()) {
    out["scale"] = short_value(quantization.scale[0]);
    if (!quantization.zero_point.empty()) out["zero_point"] = quantization.zero_point[0];
  } else {
    out["scale"] = Json::array();
    for (const float scale : quantization.scale)
      out["scale"].push_back(short_value(scale));
    if (!quantization.zero_point.empty()) out["zero_point"] = quantization.zero_point;
    if (quantization.axis) out["axis"] = *quantization.axis;
  }
  if (output.dtype) out["dtype"] = decode::name_of(*output.dtype);
  return out;
}

Json stride_to_json(const Stride& stride) {
  if (stride.x == stride.y) return stride.x;
  return Json::array({stride.x, stride.y});
}

void write_coding(const OutputDescription& output, Json& out) {
  if (output.encoding) out["encoding"] = to_string(*output.encoding);
  if (output.score_format) out["score_format"] = to_string(*output.score_format);
  if (output.activation != Activation::none)
    out["activation_required"] = to_string(output.activation);
  if (output.applied != Activation::none) out["activation_applied"] = to_string(output.applied);
  if (output.box_units) out["normalized"] = *output.box_units == BoxUnits::fraction;
  for (const Anchor& anchor : output.anchors)
    out["anchors"].push_back(Json::array({short_value(anchor[0]), short_value(anchor[1])}));
  if (output.stride) out["stride"] = stride_to_json(*output.stride);
  if (!output.strides.empty()) out["strides"] = output.strides;
}

Json output_to_json(const OutputDescription& output) {
  Json out = Json::object();
  if (!output.name.empty()) out["name"] = output.name;
  if (output.role != OutputRole::auxiliary) out["type"] = to_string(output.role);
  out["decoder"] = to_string(output.family);
  write_coding(output, out);
  out["shape"] = output.shape;
  if (!output.axes.empty()) out["dshape"] = axes_to_json(output);
  if (output.dtype) out["dtype"] = decode::name_of(*output.dtype);
  if (output.quantization) out["quantization"] = quantization_to_json(output);
  for (const OutputDescription& part : output.parts)
    out["outputs"].push_back(output_to_json(part));
  return out;
}

Json input_to_json(const ModelDescription& description) {
  const Size input = description.input;
  Json out;
  out["shape"] = Json::array({1});  // a shape that gives no size
  if (input.width > 0 && input.height > 0) {
    out["shape"] = Json::array({input.height, input.width});
    out["dshape"] =
        Json::array({Json::array({"height", input.height}), Json::array({"width", input.width})});
  }
  if (!description.camera_adaptor.empty()) out["cameraadaptor"] = description.camera_adaptor;
  return out;
}

Json to_document(const ModelDescription& description) {
  Json out;
  out["schema_version"] = 2;
  if (!description.decoder_version.empty()) out["decoder_version"] = description.decoder_version;
  if (description.task) out["task"] = to_string(*description.task);
  if (description.nms) out["nms"] = decode::name_of(*description.nms);
  if (description.input != Size{} || !description.camera_adaptor.empty())
    out["input"] = input_to_json(description);
  if (const auto& points = description.keypoints)
    out["kpt_shape"] = Json::array({points->count, points->dimensions});
  if (!description.labels.empty()) out["labels"] = description.labels;
  out["outputs"] = Json::array();
  for (const OutputDescription& output : description.outputs)
    out["outputs"].push_back(output_to_json(output));
  return out;
}

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::size_t count_values(const Json& json) {
  std::size_t count = 1;
  if (json.is_structured())
    for (const Json& value : json)
      count += count_values(value);
  return count;
}

// Upper bound of the number of values in the records.
std::size_t max_values(const std::vector<OutputDescription>& outputs) {
  std::size_t count = 0;
  for (const OutputDescription& output : outputs) {
    count += 32 + output.shape.size() + 3 * output.axes.size() + 3 * output.anchors.size() +
             output.strides.size() + max_values(output.parts);
    if (const auto& quantization = output.quantization)
      count += quantization->scale.size() + quantization->zero_point.size();
  }
  return count;
}

std::size_t name_bytes(const std::vector<OutputDescription>& outputs) {
  std::size_t bytes = 0;
  for (const OutputDescription& output : outputs)
    bytes += output.name.size() + name_bytes(output.parts);
  return bytes;
}

// Whether the document is certainly below the limits, so that it need not be written to check.
bool is_short(const ModelDescription& description) {
  constexpr std::size_t max_line = 96;   // of a value: indent, key, digits or name, bracket
  constexpr std::size_t max_escape = 6;  // bytes of one escaped byte of a text
  const std::size_t values = 64 + description.labels.size() + max_values(description.outputs);
  std::size_t texts = description.camera_adaptor.size() + name_bytes(description.outputs);
  for (const std::string& label : description.labels)
    texts += label.size();
  return values <= DocumentLimits::nodes &&
         values * max_line + texts * max_escape <= DocumentLimits::json_bytes;
}

}  // namespace

Status decode::check_written(const ModelDescription& description) {
  if (is_short(description)) return {};
  const Json document = to_document(description);
  const std::size_t bytes = dump(document).size();
  const std::size_t values = count_values(document);
  if (bytes <= DocumentLimits::json_bytes && values <= DocumentLimits::nodes) return {};
  const auto labels = document.find("labels");
  const std::size_t of_labels = labels == document.end() ? 0 : dump(*labels).size();
  return fail(Errc::exhausted, "description: too long for a document",
              "{} bytes of JSON, {} of them for {} labels, at most {} MiB; {} values, at most {}",
              bytes, of_labels, description.labels.size(), DocumentLimits::json_bytes >> 20, values,
              DocumentLimits::nodes);
}

std::string ModelDescription::to_json() const {
  return dump(to_document(*this));
}

}  // namespace halyard
