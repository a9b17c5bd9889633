// SPDX-License-Identifier: Apache-2.0
// A field with its data: strided loads of real values from any dtype and quantization.
#pragma once

#include <cstddef>
#include <span>

#include "decode/head/stored_types.h"
#include "decode/head/threshold.h"
#include "halyard/quantization.h"

namespace halyard::decode {

/// A stored value as a float; 0 for a dtype that heads do not support.
inline float load_raw(const std::byte* at, DType dtype) noexcept {
  float value = 0;
  with_stored_type(dtype, [&]<class T>(T) { value = load_stored<T>(at); });
  return value;
}

/// The features of one box.
struct BoxView {
  const std::byte* data = nullptr;
  std::size_t channel = 0;  ///< of feature 0, index into per-channel quantization
};

/// The features of all boxes of one level.
struct FieldView {
  const std::byte* data = nullptr;  ///< of box 0, feature 0; null: absent
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t column_stride = 0;
  std::ptrdiff_t anchor_stride = 0;
  std::ptrdiff_t feature_stride = 0;
  std::size_t count = 0;
  std::size_t channel = 0;
  std::size_t anchor_channels = 0;
  DType dtype = DType::f32;
  Dequantization affine;                      ///< identity for floats
  const Quantization* per_channel = nullptr;  ///< used instead of `affine`
  const Quantization* stored = nullptr;       ///< for integers: the quantization that was given

  explicit operator bool() const noexcept { return data != nullptr; }
  BoxView box(std::size_t row, std::size_t column, std::size_t anchor) const noexcept {
    return {data + static_cast<std::ptrdiff_t>(row) * row_stride +
                static_cast<std::ptrdiff_t>(column) * column_stride +
                static_cast<std::ptrdiff_t>(anchor) * anchor_stride,
            channel + anchor * anchor_channels};
  }
  float raw(const BoxView& box, std::size_t feature) const noexcept {
    return load_raw(box.data + static_cast<std::ptrdiff_t>(feature) * feature_stride, dtype);
  }
  float real(float raw_value, std::size_t of_channel) const noexcept {
    if (per_channel == nullptr) return dequantize(raw_value, affine);
    return dequantize(raw_value,
                      {per_channel->scale_at(of_channel), per_channel->zero_point_at(of_channel)});
  }
  float value(const BoxView& box, std::size_t feature) const noexcept {
    return real(raw(box, feature), box.channel + feature);
  }
  /// Reads the first out.size() features of the box.
  void values(const BoxView& box, std::span<float> out) const noexcept;
};

}  // namespace halyard::decode
