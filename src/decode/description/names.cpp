// SPDX-License-Identifier: Apache-2.0
// Names of enumerators in documents. Where a value has several names, the first one is written.
#include "decode/description/names.h"

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

constexpr Word<Family> family_words[] = {
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

constexpr Word<Task> tasks[] = {
    {Task::detect, "detect"}, {Task::segment, "segment"},   {Task::pose, "pose"},
    {Task::obb, "obb"},       {Task::classify, "classify"}, {Task::semantic, "semantic"},
};

constexpr Word<Nms> suppressions[] = {
    {Nms::class_agnostic, "class_agnostic"},
    {Nms::class_aware, "class_aware"},
    {Nms::none, "none"},
};

// The names that NumPy uses; dtype_from_string() reads them.
constexpr Word<DType> dtypes[] = {
    {DType::u8, "uint8"},     {DType::i8, "int8"},     {DType::u16, "uint16"},
    {DType::i16, "int16"},    {DType::u32, "uint32"},  {DType::i32, "int32"},
    {DType::u64, "uint64"},   {DType::i64, "int64"},   {DType::f16, "float16"},
    {DType::f32, "float32"},  {DType::f64, "float64"}, {DType::bf16, "bf16"},
    {DType::boolean, "bool"},
};

constexpr Word<Arrangement> arrangements[] = {
    {Arrangement::yolo_det, "yolo_det"},
    {Arrangement::yolo_seg_det, "yolo_seg_det"},
    {Arrangement::yolo_seg_det_2way, "yolo_seg_det_2way"},
    {Arrangement::yolo_split_det, "yolo_split_det"},
    {Arrangement::yolo_split_seg_det, "yolo_split_seg_det"},
    {Arrangement::yolo_end_to_end_det, "yolo_end_to_end_det"},
    {Arrangement::yolo_end_to_end_seg_det, "yolo_end_to_end_seg_det"},
    {Arrangement::yolo_split_end_to_end_det, "yolo_split_end_to_end_det"},
    {Arrangement::yolo_split_end_to_end_seg_det, "yolo_split_end_to_end_seg_det"},
    {Arrangement::yolo_pose_det, "yolo_pose_det"},
    {Arrangement::yolo_split_pose_det, "yolo_split_pose_det"},
    {Arrangement::yolo_end_to_end_pose_det, "yolo_end_to_end_pose_det"},
    {Arrangement::yolo_obb_det, "yolo_obb_det"},
    {Arrangement::yolo_split_obb_det, "yolo_split_obb_det"},
    {Arrangement::yolo_end_to_end_obb_det, "yolo_end_to_end_obb_det"},
    {Arrangement::yolo_anchor_det, "yolo_anchor_det"},
    {Arrangement::yolo_per_scale_det, "yolo_per_scale_det"},
    {Arrangement::yolo_per_scale_seg_det, "yolo_per_scale_seg_det"},
    {Arrangement::yolo_per_scale_pose_det, "yolo_per_scale_pose_det"},
    {Arrangement::yolo_per_scale_obb_det, "yolo_per_scale_obb_det"},
    {Arrangement::classifier, "classifier"},
    {Arrangement::modelpack_det, "modelpack_det"},
    {Arrangement::modelpack_det_split, "modelpack_det_split"},
    {Arrangement::modelpack_seg, "modelpack_seg"},
    {Arrangement::modelpack_seg_det, "modelpack_seg_det"},
    {Arrangement::modelpack_seg_det_split, "modelpack_seg_det_split"},
    {Arrangement::ssd_det, "ssd_det"},
    {Arrangement::nanodet_det, "nanodet_det"},
    {Arrangement::detr_det, "detr_det"},
    {Arrangement::semantic_seg, "semantic_seg"},
};

template <class T, std::size_t N>
std::string_view first_name(const Word<T> (&words)[N], T value) noexcept {
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
  return first_name(roles, role);
}
std::string_view to_string(AxisName axis) noexcept {
  return first_name(axes, axis);
}
std::string_view to_string(Family family) noexcept {
  return first_name(family_words, family);
}
std::string_view to_string(BoxEncoding encoding) noexcept {
  return first_name(encodings, encoding);
}
std::string_view to_string(ScoreFormat format) noexcept {
  return first_name(score_formats, format);
}
std::string_view to_string(Activation activation) noexcept {
  return first_name(activations, activation);
}

std::string_view to_string(Task task) noexcept {
  return first_name(tasks, task);
}
std::string_view to_string(Arrangement arrangement) noexcept {
  return first_name(arrangements, arrangement);
}

std::string_view decode::name_of(Nms nms) noexcept {
  return first_name(suppressions, nms);
}
std::string_view decode::name_of(DType dtype) noexcept {
  return first_name(dtypes, dtype);
}
std::optional<Task> decode::task_of(std::string_view word) noexcept {
  return value_of(tasks, word);
}
std::optional<Nms> decode::nms_of(std::string_view word) noexcept {
  return value_of(suppressions, word);
}
std::optional<OutputRole> decode::role_of(std::string_view word) noexcept {
  return value_of(roles, word);
}
std::optional<AxisName> decode::axis_of(std::string_view word) noexcept {
  return value_of(axes, word);
}
std::optional<Family> decode::family_of(std::string_view word) noexcept {
  return value_of(family_words, word);
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
