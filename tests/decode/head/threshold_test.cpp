// SPDX-License-Identifier: Apache-2.0
// Thresholds in the stored domain decide exactly as dequantizing first would.
#include "decode/head/threshold.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace halyard::decode {
namespace {

TEST(Threshold, of_the_reference_case_is_133) {
  EXPECT_EQ(quantized_threshold(0.5F, {0.1F, 128}, DType::u8), 133);
}

TEST(Threshold, rounds_up_and_counts_the_zero_point) {
  EXPECT_EQ(quantized_threshold(0.25F, {0.1F, -10}, DType::i8), -7);     // 2.5 steps above -10
  EXPECT_EQ(quantized_threshold(0.5F, {0.25F, -128}, DType::i8), -126);  // exactly 2 steps
  EXPECT_EQ(quantized_threshold(0.0F, {0.25F, 3}, DType::u8), 3);
}

TEST(Threshold, below_the_range_is_the_lowest_value_and_above_it_is_none) {
  EXPECT_EQ(quantized_threshold(0.1F, {0.5F, -200}, DType::i8), -128);
  EXPECT_EQ(quantized_threshold(1.0F, {0.001F, 0}, DType::u8), std::nullopt);
  EXPECT_EQ(quantized_threshold(1.0F, {1e-30F, 0}, DType::u16), std::nullopt);
}

TEST(Threshold, decides_as_dequantizing_first_for_every_stored_value) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> unit(0, 1);
  int refusing_all = 0;
  for (int round = 0; round < 400; ++round) {
    const DType dtype = std::array{DType::i8, DType::u8, DType::i16, DType::u16}[random() % 4];
    const auto [lowest, highest] = stored_range(dtype);
    const float scale = std::exp2(-16 * unit(random));
    const Dequantization affine{scale, lowest + static_cast<std::int32_t>(random() % 200)};
    // Half of the thresholds are values that the tensor can hold: the ties.
    float threshold = unit(random);
    if (round % 2 == 0) {
      const auto q = static_cast<float>(affine.zero_point) + static_cast<float>(random() % 50);
      threshold = std::min(1.0F, dequantize(q, affine));
    }
    const auto minimum = quantized_threshold(threshold, affine, dtype);
    refusing_all += minimum ? 0 : 1;
    for (std::int32_t q = lowest; q <= highest; ++q) {
      const bool expected = dequantize(static_cast<float>(q), affine) >= threshold;
      ASSERT_EQ(minimum && q >= *minimum, expected)
          << q << " scale " << scale << " zero point " << affine.zero_point << " at " << threshold;
    }
  }
  EXPECT_GT(refusing_all, 0);  // that branch was taken too
}

// Each of the 65536 patterns.
template <class T>
void check_short_threshold(float threshold) {
  const std::int16_t minimum = ordinal(short_threshold<T>(threshold));
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const T value{static_cast<std::uint16_t>(bits)};
    const std::int16_t at = ordinal(value);
    ASSERT_EQ(std::isnan(to_float(value)), at > infinity_bits<T> || at < -infinity_bits<T>);
    if (std::isnan(to_float(value))) continue;
    ASSERT_EQ(at >= minimum, to_float(value) >= threshold) << bits << " at " << threshold;
  }
}

TEST(Threshold, of_short_floats_decides_as_converting_first) {
  std::mt19937 random(9);
  std::uniform_real_distribution<float> unit(-1, 1);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float threshold : {0.0F, 1.0F, 0.25F, 0.3F, 1e-7F, -1e-7F, -1.0986123F, 70000.0F,
                                -70000.0F, infinity, -infinity, unit(random), unit(random)}) {
    check_short_threshold<Half>(threshold);
    check_short_threshold<BFloat16>(threshold);
  }
}

TEST(Dequantize, gives_the_worked_values) {
  EXPECT_FLOAT_EQ(dequantize(0, {0.1F, -128}), 12.8F);
  EXPECT_FLOAT_EQ(dequantize(127, {0.1F, -128}), 25.5F);
  EXPECT_EQ(dequantize(-128, {0.1F, -128}), 0);
  EXPECT_FLOAT_EQ(dequantize(64, {0.1F, -128}), 19.2F);
  EXPECT_FLOAT_EQ(dequantize(0, {0.130F, 70}), -9.1F);
  EXPECT_EQ(dequantize(70, {0.130F, 70}), 0);
  EXPECT_FLOAT_EQ(dequantize(255, {0.130F, 70}), 24.05F);
  EXPECT_EQ(dequantize(-10, {0.1F, -10}), 0);
  EXPECT_FLOAT_EQ(dequantize(127, {0.1F, -10}), 13.7F);
  EXPECT_EQ(dequantize(255, {0.5F, 0}), 127.5F);
  EXPECT_FLOAT_EQ(dequantize(100, {0.1F, -128}), 22.8F);
}

}  // namespace
}  // namespace halyard::decode
