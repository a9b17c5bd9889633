// SPDX-License-Identifier: Apache-2.0
// Finds rows of suppressed boxes. They have the shape of a two-class detection, but another
// meaning.
#include "decode/description/end_to_end.h"

#include "base/text/format_error.h"
#include "decode/compile/axes.h"
#include "decode/description/shapes.h"

namespace halyard::decode {
namespace {

using Axis = std::optional<std::size_t>;

Result<Axis> by_names(const ModelDescription& description, const OutputDescription& output,
                      std::size_t features) {
  const Axis rows = find_axis(output, AxisName::num_boxes);
  const Axis columns = find_axis(output, AxisName::num_features);
  const bool is_rows = rows && columns && *rows < *columns;
  if (!is_rows || named_extent(output, AxisName::num_features) != features) return Axis();
  if (description.labels.size() != 2) return columns;
  if (named_extent(output, AxisName::num_boxes) > max_end_to_end_rows) return Axis();
  return fail(Errc::invalid_argument,
              "outputs: rows can be two classes or suppressed boxes; set decoder_version",
              "{}, 2 labels", text_of(output.shape));
}

Axis by_shape(const ModelDescription& description, const OutputDescription& output,
              std::size_t features) {
  const std::size_t labels = description.labels.size();
  const std::size_t before_suppression = features - end_to_end_features + 4 + labels;
  const auto axes = combined_axes_by_shape(output.shape, labels == 0 ? 0 : before_suppression);
  if (!axes || axes->feature < axes->column || labels == 2) return Axis();
  const bool is_rows = extent(output.shape, axes->feature) == features &&
                       extent(output.shape, axes->column) <= max_end_to_end_rows;
  return is_rows ? axes->feature : Axis();
}

// decoder_version states that the output holds rows: returns any axis of that many features.
Result<Axis> by_version(const OutputDescription& output, std::size_t features) {
  const auto& shape = output.shape;
  if (has_names(output)) {
    if (named_extent(output, AxisName::num_features) == features)
      return find_axis(output, AxisName::num_features);
  } else if (shape.size() >= 2) {
    for (const std::size_t axis : {shape.size() - 1, shape.size() - 2})
      if (shape[axis] == features) return Axis(axis);
  }
  return fail(Errc::invalid_argument,
              "outputs: decoder_version yolo26 needs rows of suppressed boxes",
              "{}, no axis of {} features; set decoder_version to yolo11 for boxes before "
              "suppression",
              text_of(shape), features);
}

}  // namespace

Result<Axis> end_to_end_axis(const ModelDescription& description, const OutputDescription& output) {
  if (output.family != Family::ultralytics) return Axis();
  const std::size_t features = end_to_end_features + trailing_features(description).count();
  if (description.decoder_version == "yolo26") return by_version(output, features);
  if (!description.decoder_version.empty() || output.score_format) return Axis();
  if (has_names(output)) return by_names(description, output, features);
  return by_shape(description, output, features);
}

}  // namespace halyard::decode
