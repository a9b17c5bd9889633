// SPDX-License-Identifier: Apache-2.0
// store_value() compared with the definitions of the formats: every f16 value, every bf16 value,
// ties.
#include "image/cpu/store/store_value.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace halyard::image {
namespace {

/// What `result`, the result of the affine map, is stored as.
template <class T>
T stored(DType dtype, float result) {
  T out{};
  const ValueMap map{ValueMap::Kind::affine, {1, 1, 1, 1}, {-0.0F, 0, 0, 0}};  // keeps zeros
  store_value(map, dtype, 0, result, reinterpret_cast<std::byte*>(&out));
  return out;
}

std::uint16_t half(float value) {
  return stored<std::uint16_t>(DType::f16, value);
}
std::uint16_t brain(float value) {
  return stored<std::uint16_t>(DType::bf16, value);
}

/// IEEE 754 binary16, from its definition.
float value_of_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const double size =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  return static_cast<float>((bits & 0x8000) != 0 ? -size : size);
}

float value_of_brain(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// `bits`, the next value, and values between them.
template <class Stored, class ValueOf>
void expect_nearest(Stored store, ValueOf value_of, std::uint16_t bits) {
  const auto next = static_cast<std::uint16_t>(bits + 1);
  const float value = value_of(bits);
  const float middle = value + (value_of(next) - value) / 2;
  ASSERT_EQ(store(value), bits);
  ASSERT_EQ(store(middle), bits % 2 == 0 ? bits : next) << "tie above " << bits;
  ASSERT_EQ(store(std::nextafter(middle, value)), bits);
  ASSERT_EQ(store(std::nextafter(middle, value_of(next))), next);
}

TEST(StoreValue, rounds_to_the_nearest_half_ties_to_even) {
  for (const unsigned sign : {0U, 0x8000U}) {
    for (unsigned magnitude = 0; magnitude < 0x7BFFU; ++magnitude)
      expect_nearest(half, value_of_half, static_cast<std::uint16_t>(sign | magnitude));
  }
  EXPECT_EQ(half(65504), 0x7BFF);
  EXPECT_EQ(half(std::nextafter(65520.0F, 0.0F)), 0x7BFF);
  EXPECT_EQ(half(65520), 0x7C00);
  EXPECT_EQ(half(-1e30F), 0xFC00);
}

TEST(StoreValue, rounds_to_the_nearest_bfloat16_ties_to_even) {
  for (const unsigned sign : {0U, 0x8000U}) {
    for (unsigned magnitude = 0x80; magnitude < 0x7F7FU; ++magnitude)
      expect_nearest(brain, value_of_brain, static_cast<std::uint16_t>(sign | magnitude));
  }
  EXPECT_EQ(brain(3.4e38F), 0x7F80);  // nearer to 2^128 than to the largest value
}

TEST(StoreValue, rounds_integers_to_even_and_clamps_them) {
  EXPECT_EQ(stored<std::uint8_t>(DType::u8, 2.5F), 2);
  EXPECT_EQ(stored<std::uint8_t>(DType::u8, 3.5F), 4);
  EXPECT_EQ(stored<std::uint8_t>(DType::u8, -0.6F), 0);
  EXPECT_EQ(stored<std::uint8_t>(DType::u8, 1e30F), 255);
  EXPECT_EQ(stored<std::int8_t>(DType::i8, -2.5F), -2);
  EXPECT_EQ(stored<std::int8_t>(DType::i8, -1e30F), -128);
  EXPECT_EQ(stored<std::int8_t>(DType::i8, 127.6F), 127);
  EXPECT_EQ(stored<std::uint16_t>(DType::u16, 65534.5F), 65534);
  EXPECT_EQ(stored<std::uint16_t>(DType::u16, 1e9F), 65535);
}

TEST(StoreValue, rounds_the_product_before_the_sum) {
  // 3 * (1 + 2^-23) is a tie that rounds up to 3 + 2^-21; minus 3, a fused sum would give 3 *
  // 2^-23.
  const float scale = std::nextafter(1.0F, 2.0F);
  const ValueMap map{ValueMap::Kind::affine, {scale, 1, 1, 1}, {-3, 0, 0, 0}};
  float out = 0;
  store_value(map, DType::f32, 0, 3, reinterpret_cast<std::byte*>(&out));
  EXPECT_EQ(out, 0x1p-21F);
}

TEST(StoreValue, rounds_codes_halves_up_and_flips_all_but_alpha) {
  const auto code = [](ValueMap::Kind kind, std::size_t c, float value) {
    std::byte out{};
    store_value({kind}, DType::u8, c, value, &out);
    return std::to_integer<int>(out);
  };
  EXPECT_EQ(code(ValueMap::Kind::identity, 0, 2.5F), 3);
  EXPECT_EQ(code(ValueMap::Kind::identity, 0, 255), 255);
  EXPECT_EQ(code(ValueMap::Kind::flip_sign, 0, 2.5F), 3 ^ 0x80);
  EXPECT_EQ(code(ValueMap::Kind::flip_sign, 3, 200), 200);
}

}  // namespace
}  // namespace halyard::image
