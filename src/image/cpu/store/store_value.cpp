// SPDX-License-Identifier: Apache-2.0
// Stores single values in each dtype.
#include "image/cpu/store/store_value.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "image/color_step.h"

namespace halyard::image {
namespace {

template <class T>
void put_value(T value, std::byte* to) noexcept {
  std::memcpy(to, &value, sizeof value);
}

std::uint16_t bf16_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace

std::uint16_t f16_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const float magnitude = std::abs(value);
  if (!(magnitude < 65520.0F)) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (magnitude < 0x1p-14F) {  // in units of the smallest subnormal
    return static_cast<std::uint16_t>(
        sign | static_cast<std::uint16_t>(std::lrint(static_cast<double>(magnitude) * 0x1p24)));
  }
  const std::uint32_t whole = (bits & 0x7FFFFFFFU) - (112U << 23);
  return static_cast<std::uint16_t>(sign | ((whole + 0xFFFU + ((whole >> 13) & 1U)) >> 13));
}

void store_value(const ValueMap& map, DType dtype, std::size_t c, float value,
                 std::byte* to) noexcept {
  if (map.kind != ValueMap::Kind::affine) {
    const std::uint8_t code = round_to_code(static_cast<double>(value));
    const bool flips = map.kind == ValueMap::Kind::flip_sign && c != 3;
    put_value(static_cast<std::uint8_t>(flips ? code ^ 0x80U : code), to);
    return;
  }
  const float result = value * map.scale[c] + map.bias[c];
  const auto whole = [&](float lowest, float highest) {
    return std::lrint(std::clamp(result, lowest, highest));
  };
  switch (dtype) {
    case DType::u8:
      return put_value(static_cast<std::uint8_t>(whole(0, 255)), to);
    case DType::i8:
      return put_value(static_cast<std::int8_t>(whole(-128, 127)), to);
    case DType::u16:
      return put_value(static_cast<std::uint16_t>(whole(0, 65535)), to);
    case DType::f16:
      return put_value(f16_bits(result), to);
    case DType::bf16:
      return put_value(bf16_bits(result), to);
    default:
      return put_value(result, to);
  }
}

}  // namespace halyard::image
