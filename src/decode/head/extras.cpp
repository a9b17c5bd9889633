// SPDX-License-Identifier: Apache-2.0
// Reads the other results of a head: keypoints and mask coefficients of survivors, image classes.
#include <algorithm>
#include <cmath>

#include "decode/head/box_coding.h"
#include "decode/head/candidates.h"
#include "decode/head/extras.h"
#include "decode/head/scores.h"

namespace halyard::decode {
namespace {

// Reads x, y and visibility. Keypoints of levels are offsets from a cell, as YOLOv8 codes them.
Keypoint read_keypoint(const HeadProgram& program, const Binding& binding, const BoxPlace& at,
                       const FieldView& field, const BoxView& box, std::size_t first) {
  const Level& level = program.levels[at.level];
  Keypoint out;
  float x = field.value(box, first);
  float y = field.value(box, first + 1);
  const bool coded = program.coding == Coding::bins || program.coding == Coding::distances;
  if (coded) {
    x = (2 * x + static_cast<float>(at.column)) * level.stride_x;
    y = (2 * y + static_cast<float>(at.row)) * level.stride_y;
  }
  out.at = {x * binding.scale_x, y * binding.scale_y};
  out.score = 1;
  if (program.keypoints->dimensions > 2) {
    const float seen = field.value(box, first + 2);
    out.score = coded ? sigmoid(seen) : seen;
  }
  return out;
}

// The quantization of the row that `box` points to.
const Quantization* row_quantization(const FieldView& field, const BoxView& box,
                                     Quantization& row) {
  if (field.per_channel == nullptr) return field.stored;
  row.scale.resize(field.count);
  row.zero_point.resize(field.count);
  for (std::size_t k = 0; k < field.count; ++k) {
    row.scale[k] = field.per_channel->scale_at(box.channel + k);
    row.zero_point[k] = field.per_channel->zero_point_at(box.channel + k);
  }
  return &row;
}

Status append_row(const FieldView& field, const BoxView& box, Scratch& work,
                  MaskPrototypes& masks) {
  std::vector<float>& values = work.numbers;
  values.resize(field.count);
  field.values(box, values);
  const bool is_finite =
      std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
  if (!is_finite) std::fill(values.begin(), values.end(), 0.0F);
  if (is_finite && is_integer(field.dtype)) {
    return masks.append(
        {box.data, field.feature_stride, field.dtype, row_quantization(field, box, work.row)});
  }
  return masks.append(
      {reinterpret_cast<const std::byte*>(values.data()), sizeof(float), DType::f32, nullptr});
}

Status begin_masks(const HeadProgram& program, Size input, std::size_t batch,
                   const Binding& binding, MaskPrototypes& masks) {
  masks.clear(program.levels[0].coefficients.count);
  if (!program.prototypes) return {};
  const TensorPlan& plan = program.tensors[*program.prototypes];
  const Tensor& tensor = *binding.tensors[*program.prototypes];
  masks.prototypes = tensor;
  if (is_integer(tensor.dtype()) && !tensor.quantization()) {
    // The axis of the description counts the batch even if the tensor has no batch axis.
    Quantization quantization = *plan.quantization;
    const std::size_t missing = binding.stored[*program.prototypes].missing;
    if (quantization.axis) quantization.axis = *quantization.axis - missing;
    HALYARD_RETURN_IF_ERROR(masks.prototypes.set_quantization(std::move(quantization)));
  }
  masks.batch = tensor.rank() == plan.shape.size() && plan.batch_axis ? batch : 0;
  masks.order = *plan.feature_axis > *plan.row_axis ? PrototypeOrder::height_width_channels
                                                    : PrototypeOrder::channels_height_width;
  masks.input = input;
  return {};
}

}  // namespace

void clear(Decoded& out) noexcept {
  out.detections.clear();
  out.rotated.clear();
  out.keypoints.clear();
  out.keypoints_each = 0;
  out.masks.clear(0);
  out.classes.clear();
}

Status read_extras(const HeadProgram& program, Size input, std::size_t batch, Scratch& work,
                   Decoded& out) {
  const Binding& binding = work.binding;
  out.keypoints.clear();
  out.keypoints_each = program.levels[0].keypoints ? program.keypoints->count : 0;
  HALYARD_RETURN_IF_ERROR(begin_masks(program, input, batch, binding, out.masks));
  if (out.keypoints_each == 0 && out.masks.channels == 0) return {};
  for (const Detection& detection : out.detections) {
    const BoxPlace at = locate_box(program, static_cast<std::size_t>(detection.anchor));
    const LevelView& view = binding.levels[at.level];
    if (view.coefficients) {
      const BoxView box = view.coefficients.box(at.row, at.column, at.anchor);
      HALYARD_RETURN_IF_ERROR(append_row(view.coefficients, box, work, out.masks));
    }
    if (!view.keypoints) continue;
    const BoxView box = view.keypoints.box(at.row, at.column, at.anchor);
    for (std::size_t k = 0; k < out.keypoints_each; ++k)
      out.keypoints.push_back(read_keypoint(program, binding, at, view.keypoints, box,
                                            k * program.keypoints->dimensions));
  }
  return {};
}

void classify(const HeadProgram& program, std::size_t maximum, Scratch& work,
              std::vector<ClassScore>& out) {
  const FieldView& scores = work.binding.levels[0].scores;
  read_scores(program, scores, scores.box(0, 0, 0), work.numbers);
  out.clear();
  for (std::size_t c = 0; c < work.numbers.size(); ++c) {
    if (!std::isnan(work.numbers[c]))
      out.push_back({static_cast<std::int32_t>(c), work.numbers[c]});
  }
  const std::size_t kept = maximum == 0 ? out.size() : std::min(maximum, out.size());
  std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(kept), out.end(),
                    [](const ClassScore& a, const ClassScore& b) {
                      return a.score != b.score ? a.score > b.score : a.label < b.label;
                    });
  out.resize(kept);
}

}  // namespace halyard::decode
