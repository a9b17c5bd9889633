// SPDX-License-Identifier: Apache-2.0
// The YOLOv8/YOLO11 detection head: hits of the class scan to candidates.
#include <cmath>
#include <cstring>

#include "base/format_error.h"
#include "decode/class_scan.h"
#include "decode/heads.h"

namespace halyard::decode {
namespace {

constexpr std::size_t box_features = 4;  // cx, cy, w, h

template <class T>
float load_raw(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::is_same_v<T, Half>) {
    return to_float(value);
  } else {
    return static_cast<float>(value);
  }
}

// Centre and extent to corners. One function for all dtypes, so that their results are the same.
Box box_of(const float (&raw)[box_features], const Source& source) noexcept {
  const float cx = dequantize(raw[0], source.affine) * source.scale_x;
  const float cy = dequantize(raw[1], source.affine) * source.scale_y;
  const float half_w = dequantize(raw[2], source.affine) * source.scale_x * 0.5F;
  const float half_h = dequantize(raw[3], source.affine) * source.scale_y * 0.5F;
  return {cx - half_w, cy - half_h, cx + half_w, cy + half_h};
}

bool is_legal(const Box& box) noexcept {
  return std::isfinite(box.x1) && std::isfinite(box.y1) && std::isfinite(box.x2) &&
         std::isfinite(box.y2) && box.x1 <= box.x2 && box.y1 <= box.y2;
}

template <class T>
std::vector<Detection> collect_as(const YoloDetection& head, const Source& source, T least) {
  const auto& strides = source.layout->stride_bytes;
  const std::ptrdiff_t feature_stride = strides[head.feature_axis];
  const std::ptrdiff_t box_stride = strides[head.box_axis];
  const std::byte* data = source.data;
  if (head.batch_axis)
    data += static_cast<std::ptrdiff_t>(source.batch) * strides[*head.batch_axis];

  std::vector<Hit> hits;
  scan_classes<T>({data + static_cast<std::ptrdiff_t>(box_features) * feature_stride, head.boxes,
                   head.class_count(), box_stride, feature_stride},
                  least, hits);
  std::vector<Detection> candidates;
  candidates.reserve(hits.size());
  for (const Hit& hit : hits) {
    const std::byte* at = data + static_cast<std::ptrdiff_t>(hit.anchor) * box_stride;
    float raw[box_features];
    for (float& feature : raw) {
      feature = load_raw<T>(at);
      at += feature_stride;
    }
    const Box box = box_of(raw, source);
    if (!is_legal(box)) continue;
    candidates.push_back({box, dequantize(hit.raw, source.affine), hit.label,
                          static_cast<std::int32_t>(hit.anchor)});
  }
  return candidates;
}

template <class T>
std::vector<Detection> collect_quantized(const YoloDetection& head, const Source& source) {
  const auto least = quantized_threshold(source.threshold, source.affine, source.layout->dtype);
  if (!least) return {};
  return collect_as<T>(head, source, static_cast<T>(*least));
}

}  // namespace

std::string YoloDetection::describe() const {
  const std::string batch = batch_axis ? fmt::format("axis {} is the batch, ", *batch_axis) : "";
  return fmt::format("YOLOv8 detection: {}axis {} has 4 + {} features, axis {} has {} boxes", batch,
                     feature_axis, class_count(), box_axis, boxes);
}

Result<std::vector<Detection>> YoloDetection::collect(const Source& source) const {
  switch (source.layout->dtype) {
    case DType::f32:
      return collect_as<float>(*this, source, source.threshold);
    case DType::f16:
      return collect_as<Half>(*this, source, Half{half_threshold(source.threshold)});
    case DType::i8:
      return collect_quantized<std::int8_t>(*this, source);
    case DType::u8:
      return collect_quantized<std::uint8_t>(*this, source);
    case DType::i16:
      return collect_quantized<std::int16_t>(*this, source);
    case DType::u16:
      return collect_quantized<std::uint16_t>(*this, source);
    default:
      return fail(Errc::unsupported, "outputs: the detection head reads f32 f16 i8 u8 i16 u16",
                  "dtype {}", to_string(source.layout->dtype));
  }
}

}  // namespace halyard::decode
