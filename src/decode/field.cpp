// SPDX-License-Identifier: Apache-2.0
// Loads of several features at once: one look at the dtype, then a loop.
#include "decode/field.h"

namespace halyard::decode {
namespace {

inline float as_float(Half value) noexcept {
  return to_float(value);
}
inline float as_float(BFloat16 value) noexcept {
  return to_float(value);
}
template <class T>
inline float as_float(T value) noexcept {
  return static_cast<float>(value);
}

template <class T>
void load(const std::byte* at, std::ptrdiff_t stride, std::span<float> out) noexcept {
  for (float& to : out) {
    T value;
    std::memcpy(&value, at, sizeof value);  // strided tensors may be misaligned
    to = as_float(value);
    at += stride;
  }
}

void load_raw(const std::byte* at, std::ptrdiff_t stride, DType dtype,
              std::span<float> out) noexcept {
  switch (dtype) {
    case DType::f32:
      return load<float>(at, stride, out);
    case DType::f16:
      return load<Half>(at, stride, out);
    case DType::bf16:
      return load<BFloat16>(at, stride, out);
    case DType::i8:
      return load<std::int8_t>(at, stride, out);
    case DType::u8:
      return load<std::uint8_t>(at, stride, out);
    case DType::i16:
      return load<std::int16_t>(at, stride, out);
    case DType::u16:
      return load<std::uint16_t>(at, stride, out);
    default:
      break;
  }
}

}  // namespace

void FieldView::values(const BoxView& box, std::span<float> out) const noexcept {
  load_raw(box.data, feature_stride, dtype, out);
  if (stored == nullptr) return;
  if (per_channel == nullptr) {
    for (float& value : out)
      value = dequantize(value, affine);
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = real(out[i], box.channel + i);
}

}  // namespace halyard::decode
