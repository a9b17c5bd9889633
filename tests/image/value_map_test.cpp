// SPDX-License-Identifier: Apache-2.0
// Combines dtype, quantization and normalisation into one map per channel.
#include "image/value_map.h"
#include "support/result.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace halyard::image {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

ValueMap map_of(DType dtype, const std::optional<Quantization>& quantization = {},
                const std::optional<Normalize>& normalize = {}) {
  return make_value_map(dtype, quantization, normalize, 2).value();
}

void expect_refused(DType dtype, const std::optional<Quantization>& quantization,
                    const std::optional<Normalize>& normalize,
                    std::optional<std::size_t> channel_axis, const std::string& request) {
  EXPECT_FAILS(make_value_map(dtype, quantization, normalize, channel_axis), Errc::invalid_argument,
               request);
}

TEST(ValueMap, keeps_codes_of_bytes_and_widens_them_for_u16) {
  EXPECT_EQ(map_of(DType::u8).kind, ValueMap::Kind::identity);
  EXPECT_EQ(map_of(DType::i8).kind, ValueMap::Kind::flip_sign);
  const ValueMap wide = map_of(DType::u16);
  EXPECT_EQ(wide.kind, ValueMap::Kind::affine);
  EXPECT_EQ(wide.scale[0], 257);
  EXPECT_EQ(wide.bias[0], 0);
}

TEST(ValueMap, maps_floats_to_one_unless_told_otherwise) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    EXPECT_EQ(map_of(dtype).scale[3], 1.0F / 255);
    EXPECT_EQ(map_of(dtype).bias[3], 0);
  }
  Normalize normalize;
  normalize.scale[1] = 3;
  normalize.bias[1] = -4;
  EXPECT_EQ(map_of(DType::f16, {}, normalize).scale[1], 3);
  EXPECT_EQ(map_of(DType::f16, {}, normalize).bias[1], -4);
}

TEST(ValueMap, takes_a_quantization_that_only_says_what_codes_are_for_codes) {
  EXPECT_EQ(map_of(DType::u8, Quantization::per_tensor(1.0F / 255)).kind, ValueMap::Kind::identity);
  EXPECT_EQ(map_of(DType::i8, Quantization::per_tensor(1.0F / 255, -128)).kind,
            ValueMap::Kind::flip_sign);
  EXPECT_EQ(map_of(DType::i8, Quantization::per_tensor(1.0F / 255)).kind, ValueMap::Kind::affine);
  EXPECT_EQ(map_of(DType::u8, Quantization::per_tensor(1.0F / 255), Normalize{}).kind,
            ValueMap::Kind::affine);
}

TEST(ValueMap, keeps_codes_for_u16_where_a_quantization_says_that_they_are_codes) {
  const ValueMap codes = map_of(DType::u16, Quantization::per_tensor(1.0F / 255));
  EXPECT_EQ(codes.kind, ValueMap::Kind::affine);
  EXPECT_EQ(codes.scale, (std::array<float, 4>{1, 1, 1, 1}));
  EXPECT_EQ(codes.bias, (std::array<float, 4>{0, 0, 0, 0}));
  const ValueMap full = map_of(DType::u16, Quantization::per_tensor(1.0F / 65535));
  EXPECT_FLOAT_EQ(full.scale[0], 257) << "the whole range means 1";
}

TEST(ValueMap, divides_by_each_channels_scale_and_adds_its_zero_point) {
  const Quantization quantization{{0.5F, 0.25F, 0.125F}, {1, 2, 3}, 2};
  const Normalize normalize{{1, 1, 1, 1}, {0, 1, 2, 3}};
  const ValueMap map = map_of(DType::i8, quantization, normalize);
  EXPECT_EQ(map.scale, (std::array<float, 4>{2, 4, 8, 8}));
  EXPECT_EQ(map.bias, (std::array<float, 4>{1, 6, 19, 27}));
}

TEST(ValueMap, refuses_numbers_that_are_not_finite) {
  Normalize normalize;
  normalize.scale[2] = infinity;
  expect_refused(DType::f32, {}, normalize, 2, "normalize: scale and bias must be finite");
  normalize = {};
  normalize.bias[0] = std::nanf("");
  expect_refused(DType::f32, {}, normalize, 2, "normalize: scale and bias must be finite");
  expect_refused(DType::f16, {}, Normalize::mean_std({0, 0, 0}, {1, 0, 1}), 2, "must be finite");
}

TEST(ValueMap, refuses_a_normalisation_that_the_quantization_makes_infinite) {
  Normalize normalize;
  normalize.scale[1] = 1e20F;
  expect_refused(DType::u8, Quantization::per_tensor(1e-30F), normalize, 2, "over dst's");
  normalize = {};
  normalize.bias[3] = -1e20F;
  expect_refused(DType::u8, Quantization::per_tensor(1e-30F), normalize, 2, "over dst's");
}

TEST(ValueMap, refuses_to_normalise_integers_without_quantization) {
  expect_refused(DType::u8, {}, Normalize{}, 2, "normalize: needs a float destination");
}

TEST(ValueMap, refuses_a_quantization_along_another_axis_than_the_channels) {
  const Quantization quantization{{0.5F, 0.25F, 0.125F}, {}, 1};
  expect_refused(DType::i8, quantization, {}, 2, "dst: its quantization");
  expect_refused(DType::i8, quantization, {}, std::nullopt, "dst: its quantization");
  EXPECT_TRUE(make_value_map(DType::i8, quantization, {}, 1));
}

TEST(Normalize, takes_the_mean_off_and_divides_by_the_deviation) {
  const Normalize n = Normalize::mean_std({0.5F, 0.25F, 0}, {0.5F, 0.125F, 1});
  EXPECT_FLOAT_EQ(n.scale[0], 2 / 255.0F);
  EXPECT_FLOAT_EQ(n.scale[1], 8 / 255.0F);
  EXPECT_FLOAT_EQ(n.scale[3], 1 / 255.0F);
  EXPECT_EQ(n.bias, (std::array<float, 4>{-1, -2, 0, 0}));
}

}  // namespace
}  // namespace halyard::image
