// SPDX-License-Identifier: Apache-2.0
// Which head fits a model's outputs, and which axis is what.
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/format_error.h"
#include "base/log_format.h"
#include "decode/heads.h"

namespace halyard::decode {
namespace {

constexpr std::size_t least_features = 5;  // cx, cy, w, h and one class
constexpr std::size_t most_extent = std::numeric_limits<std::int32_t>::max();

std::string shapes_of(const ModelDescription& description) {
  std::string out;
  for (const auto& output : description.outputs) {
    if (!out.empty()) out += ", ";
    if (output.role != OutputRole::detection && output.role != OutputRole::auxiliary)
      out += fmt::format("{} ", to_string(output.role));
    out += fmt::format("[{}]", fmt::join(output.shape, ", "));
  }
  return out.empty() ? "none" : out;
}

std::string names_of(const std::vector<AxisName>& axes) {
  std::string out;
  for (const AxisName axis : axes) {
    if (!out.empty()) out += ", ";
    out += to_string(axis);
  }
  return out;
}

Error no_head(const ModelDescription& description, std::string_view reason) {
  return fail(Errc::unsupported, "outputs: no detection head fits them",
              "{}; shapes seen: {}; layouts known: YOLOv8/YOLO11 detection [batch, 4 + classes, "
              "boxes] or [batch, boxes, 4 + classes] as the only output",
              reason, shapes_of(description));
}

// A head's axes by name. False in `named` when the output names none.
struct Axes {
  std::optional<std::size_t> batch;
  std::optional<std::size_t> features;
  std::optional<std::size_t> boxes;
};

Result<Axes> named_axes(const OutputDescription& output, std::size_t index) {
  if (output.axes.size() != output.shape.size()) {
    return fail(Errc::invalid_argument, "outputs: axes must name every axis of the shape",
                "outputs[{}]: {} names, rank {}", index, output.axes.size(), output.shape.size());
  }
  Axes axes;
  for (std::size_t i = 0; i < output.axes.size(); ++i) {
    const AxisName name = output.axes[i];
    auto* const slot = name == AxisName::batch          ? &axes.batch
                       : name == AxisName::num_features ? &axes.features
                       : name == AxisName::num_boxes    ? &axes.boxes
                                                        : nullptr;
    if (name == AxisName::padding && output.shape[i] == 1) continue;
    if (slot == nullptr || *slot) {
      return fail(Errc::invalid_argument,
                  "outputs: axes of a detection are batch, num_features, num_boxes, each once, and "
                  "padding of extent 1",
                  "outputs[{}].axes[{}]: \"{}\" of extent {}", index, i, to_string(name),
                  output.shape[i]);
    }
    *slot = i;
  }
  if (!axes.features || !axes.boxes) {
    return fail(Errc::invalid_argument, "outputs: axes must name num_features and num_boxes",
                "outputs[{}].axes: {}", index, names_of(output.axes));
  }
  return axes;
}

// By extents; nothing when no axis can hold the features.
std::optional<Axes> axes_by_shape(const std::vector<std::size_t>& shape, std::size_t labels) {
  if (shape.size() != 2 && shape.size() != 3) return std::nullopt;
  const std::size_t first = shape.size() - 2;
  const std::size_t a = shape[first];
  const std::size_t b = shape[first + 1];
  Axes axes;
  if (shape.size() == 3) axes.batch = 0;
  // Equal extents are a picture rather than a head, and [1, n] is a classification.
  if (a == b || (shape.size() == 2 && (a == 1 || b == 1))) return std::nullopt;
  const std::size_t wanted = labels + 4;
  bool features_first = a < b ? a >= least_features : b < least_features;
  if (labels != 0 && (a == wanted) != (b == wanted)) features_first = a == wanted;
  axes.features = features_first ? first : first + 1;
  axes.boxes = features_first ? first + 1 : first;
  if (shape[*axes.features] < least_features) return std::nullopt;
  return axes;
}

// Networks with suppression inside give at most 300 rows of corners, score and class: the shape of
// a two-class detection, and a different meaning.
bool is_end_to_end(const ModelDescription& description, const YoloDetection& head) {
  return description.decoder_version.empty() && head.features == 6 && head.boxes <= 300 &&
         head.box_axis < head.feature_axis && description.labels.size() != 2;
}

Status check_extents(const ModelDescription& description) {
  for (std::size_t i = 0; i < description.outputs.size(); ++i) {
    const auto& shape = description.outputs[i].shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 0 || shape[axis] > most_extent) {
        return fail(Errc::invalid_argument, "outputs: every extent must be 1..2147483647",
                    "outputs[{}].shape[{}]: {}", i, axis, shape[axis]);
      }
    }
  }
  return {};
}

// The one output that is to be decoded.
Result<std::size_t> detection_output(const ModelDescription& description) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < description.outputs.size(); ++i) {
    const OutputRole role = description.outputs[i].role;
    if (role == OutputRole::auxiliary) continue;
    if (role != OutputRole::detection)
      return no_head(description, fmt::format("role \"{}\" is not decoded", to_string(role)));
    if (found) return no_head(description, "several outputs");
    found = i;
  }
  if (!found) return no_head(description, "no detection output");
  const OutputDescription& output = description.outputs[*found];
  const auto refuse = [&](std::string_view what, std::string_view word) {
    return no_head(description, fmt::format("outputs[{}].{} {}", *found, what, word));
  };
  if (output.family != Family::ultralytics) return refuse("decoder", to_string(output.family));
  if (output.encoding == BoxEncoding::anchor || output.encoding == BoxEncoding::corners)
    return refuse("encoding", to_string(*output.encoding));
  if (output.score_format == ScoreFormat::obj_x_class) return refuse("score_format", "obj_x_class");
  if (output.activation != Activation::none)
    return refuse("activation_required", to_string(output.activation));
  if (output.applied == Activation::softmax || output.applied == Activation::tanh)
    return refuse("activation_applied", to_string(output.applied));
  if (!output.anchors.empty()) return refuse("anchors", "of a grid");
  if (!output.parts.empty()) return refuse("outputs", "of several tensors");
  if (description.keypoints || description.task == Task::obb || description.task == Task::pose)
    return no_head(description, "poses and oriented boxes");
  return *found;
}

}  // namespace

Result<Head> choose_head(const ModelDescription& description) {
  HALYARD_CHECK(check_extents(description));
  HALYARD_TRY(const std::size_t index, detection_output(description));
  const OutputDescription& output = description.outputs[index];
  Axes axes;
  if (!output.axes.empty()) {
    HALYARD_TRY(axes, named_axes(output, index));
  } else if (const auto found = axes_by_shape(output.shape, description.labels.size())) {
    axes = *found;
  } else {
    return no_head(description,
                   "without names for the axes, rank must be 2 or 3, with two different extents, "
                   "one of 5 or more");
  }
  YoloDetection head{index,
                     axes.batch,
                     *axes.features,
                     *axes.boxes,
                     output.shape[*axes.features],
                     output.shape[*axes.boxes]};
  if (head.features < least_features)
    return no_head(description, "num_features must be at least 5");
  if (is_end_to_end(description, head)) {
    return no_head(description,
                   "rows of 6 are an end-to-end output (corners, score, class); set "
                   "decoder_version to yolov8 if they are not");
  }
  if (!description.labels.empty() && description.labels.size() != head.class_count()) {
    HALYARD_LOG(LogLevel::warn, "decode", "{} labels for {} classes", description.labels.size(),
                head.class_count());
  }
  return Head(head);
}

}  // namespace halyard::decode
