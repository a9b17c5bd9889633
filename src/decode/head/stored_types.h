// SPDX-License-Identifier: Apache-2.0
// The types in which heads store numbers, and how one number is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "halyard/format.h"

/// X(name, T) for each type; DType::name is its dtype.
#define HALYARD_STORED_TYPES(X) \
  X(f32, float)                 \
  X(f16, Half)                  \
  X(bf16, BFloat16)             \
  X(i8, std::int8_t)            \
  X(u8, std::uint8_t)           \
  X(i16, std::int16_t)          \
  X(u16, std::uint16_t)

namespace halyard::decode {

/// A stored value as a float. A float represents every value of these types.
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
inline float load_stored(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);  // strided tensors can be misaligned
  return as_float(value);
}

/// Calls use(T{}) for the type T of `dtype`. Returns false if heads do not support the dtype.
template <class Use>
inline bool with_stored_type(DType dtype, Use use) {
  switch (dtype) {
#define HALYARD_CASE(name, T) \
  case DType::name:           \
    use(T{});                 \
    return true;
    HALYARD_STORED_TYPES(HALYARD_CASE)
#undef HALYARD_CASE
    default:
      return false;
  }
}

inline bool is_stored_type(DType dtype) noexcept {
  return with_stored_type(dtype, [](auto) {});
}

}  // namespace halyard::decode
