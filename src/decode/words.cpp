// SPDX-License-Identifier: Apache-2.0
// Words of documents. The first word of a value is the one that is written.
#include "decode/words.h"

namespace halyard {
namespace {

template <class T>
struct Word {
  T value;
  std::string_view text;
};

constexpr Word<OutputRole> roles[] = {
    {OutputRole::auxiliary, ""},
    {OutputRole::detection, "detection"},
    {OutputRole::detection, "detections"},
    {OutputRole::boxes, "boxes"},
    {OutputRole::boxes_xy, "boxes_xy"},
    {OutputRole::boxes_wh, "boxes_wh"},
    {OutputRole::scores, "scores"},
    {OutputRole::objectness, "objectness"},
    {OutputRole::classes, "classes"},
    {OutputRole::mask_coefficients, "mask_coefs"},
    {OutputRole::mask_coefficients, "mask_coefficients"},
    {OutputRole::prototypes, "protos"},
    {OutputRole::keypoints, "landmarks"},
    {OutputRole::keypoints, "keypoints"},
    {OutputRole::angles, "angles"},
    {OutputRole::priors, "priors"},
    {OutputRole::segmentation, "segmentation"},
    {OutputRole::class_map, "masks"},
    {OutputRole::class_map, "class_map"},
    {OutputRole::classification, "classification"},
};

constexpr Word<AxisName> axes[] = {
    {AxisName::unknown, "unknown"},
    {AxisName::batch, "batch"},
    {AxisName::height, "height"},
    {AxisName::width, "width"},
    {AxisName::num_classes, "num_classes"},
    {AxisName::num_features, "num_features"},
    {AxisName::num_boxes, "num_boxes"},
    {AxisName::num_boxes, "num_queries"},
    {AxisName::num_protos, "num_protos"},
    {AxisName::num_anchors_x_features, "num_anchors_x_features"},
    {AxisName::padding, "padding"},
    {AxisName::box_coords, "box_coords"},
};

constexpr Word<Family> families[] = {
    {Family::ultralytics, "ultralytics"}, {Family::ultralytics, "yolov8"},
    {Family::modelpack, "modelpack"},     {Family::ssd, "ssd"},
    {Family::nanodet, "nanodet"},         {Family::detr, "detr"},
    {Family::semantic, "semantic"},
};

constexpr Word<BoxEncoding> encodings[] = {
    {BoxEncoding::direct, "direct"},   {BoxEncoding::direct, "ltrb"},
    {BoxEncoding::dfl, "dfl"},         {BoxEncoding::anchor, "anchor"},
    {BoxEncoding::corners, "corners"}, {BoxEncoding::prior, "prior"},
};

constexpr Word<ScoreFormat> score_formats[] = {
    {ScoreFormat::per_class, "per_class"},
    {ScoreFormat::obj_x_class, "obj_x_class"},
};

constexpr Word<Activation> activations[] = {
    {Activation::none, "none"},
    {Activation::sigmoid, "sigmoid"},
    {Activation::softmax, "softmax"},
    {Activation::tanh, "tanh"},
};

template <class T, std::size_t N>
std::string_view text_of(const Word<T> (&words)[N], T value) noexcept {
  for (const auto& word : words)
    if (word.value == value) return word.text;
  return "unknown";
}

template <class T, std::size_t N>
std::optional<T> value_of(const Word<T> (&words)[N], std::string_view text) noexcept {
  for (const auto& word : words)
    if (word.text == text) return word.value;
  return std::nullopt;
}

}  // namespace

std::string_view to_string(OutputRole role) noexcept {
  return text_of(roles, role);
}
std::string_view to_string(AxisName axis) noexcept {
  return text_of(axes, axis);
}
std::string_view to_string(Family family) noexcept {
  return text_of(families, family);
}
std::string_view to_string(BoxEncoding encoding) noexcept {
  return text_of(encodings, encoding);
}
std::string_view to_string(ScoreFormat format) noexcept {
  return text_of(score_formats, format);
}
std::string_view to_string(Activation activation) noexcept {
  return text_of(activations, activation);
}

std::optional<OutputRole> decode::role_of(std::string_view word) noexcept {
  return value_of(roles, word);
}
std::optional<AxisName> decode::axis_of(std::string_view word) noexcept {
  return value_of(axes, word);
}
std::optional<Family> decode::family_of(std::string_view word) noexcept {
  return value_of(families, word);
}
std::optional<BoxEncoding> decode::encoding_of(std::string_view word) noexcept {
  return value_of(encodings, word);
}
std::optional<ScoreFormat> decode::score_format_of(std::string_view word) noexcept {
  return value_of(score_formats, word);
}
std::optional<Activation> decode::activation_of(std::string_view word) noexcept {
  return value_of(activations, word);
}

}  // namespace halyard
