// SPDX-License-Identifier: Apache-2.0
// Elementary functions against the C library, their edges, and bounds of rotated boxes.
#include "base/elementary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>

#include "halyard/detection.h"
#include "support/product.h"

namespace halyard {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr float quarter = 1.57079632679F;

// FNV-1a over the bits.
std::uint64_t hash_of(std::uint64_t hash, double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  for (int i = 0; i < 8; ++i)
    hash = (hash ^ (bits >> (8 * i) & 0xFF)) * 1099511628211ULL;
  return hash;
}

TEST(Elementary, agrees_with_the_c_library) {
  for (int i = -7000; i <= 7000; ++i) {
    const double x = i * 0.0973;
    EXPECT_NEAR(exp_of(x) / std::exp(x), 1, 1e-15) << x;
    EXPECT_NEAR(sin_cos_of(x).sin, std::sin(x), 1e-13) << x;
    EXPECT_NEAR(sin_cos_of(x).cos, std::cos(x), 1e-13) << x;
    const double y = std::exp(x);
    EXPECT_NEAR(log_of(y), std::log(y), 1e-15 * (1 + std::abs(x))) << y;
  }
}

TEST(Elementary, has_defined_edges) {
  EXPECT_EQ(exp_of(0), 1);
  EXPECT_EQ(exp_of(-infinity), 0);
  EXPECT_EQ(exp_of(infinity), infinity);
  EXPECT_TRUE(std::isnan(exp_of(nan)));
  EXPECT_EQ(log_of(1), 0);
  EXPECT_EQ(log_of(0), -infinity);
  EXPECT_EQ(log_of(infinity), infinity);
  EXPECT_TRUE(std::isnan(log_of(-1)));
  EXPECT_TRUE(std::isnan(log_of(nan)));
  EXPECT_TRUE(std::isnan(sin_cos_of(infinity).sin));
  EXPECT_TRUE(std::isnan(sin_cos_of(nan).cos));
  EXPECT_EQ(sin_cos_of(0).cos, 1);
}

TEST(Elementary, quarter_turns_are_exact) {
  const double right = std::acos(0.0);
  const double sines[] = {0, 1, 0, -1};
  for (int q = -8; q <= 8; ++q) {
    const auto [sin, cos] = sin_cos_of(q * right);
    EXPECT_EQ(sin, sines[(q + 8) % 4]) << q;
    EXPECT_EQ(cos, sines[(q + 9) % 4]) << q;
  }
}

TEST(Elementary, has_the_same_bits_on_every_machine) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (int i = -2000; i <= 2000; ++i) {
    const double x = i / 64.0;
    const auto [sin, cos] = sin_cos_of(x);
    for (const double value : {exp_of(x), log_of(2001.5 + i), sin, cos})
      hash = hash_of(hash, value);
  }
  EXPECT_EQ(hash, 13013271423113636676ULL);
}

TEST(RotatedBox, bounds_of_a_quarter_turn_swap_the_extents) {
  EXPECT_EQ(bounds({10, 20, 8, 4, 0}), (Box{6, 18, 14, 22}));
  const Box rotated = bounds({10, 20, 8, 4, quarter});
  EXPECT_NEAR(rotated.x1, 8, 1e-5);
  EXPECT_NEAR(rotated.y1, 16, 1e-5);
  EXPECT_NEAR(rotated.x2, 12, 1e-5);
  EXPECT_NEAR(rotated.y2, 24, 1e-5);
}

TEST(RotatedBox, bounds_touch_the_corners) {
  for (int i = -40; i < 40; ++i) {
    const RotatedBox box{3, -2, 7, 2, 0.1F * static_cast<float>(i)};
    const double c = std::cos(box.angle), s = std::sin(box.angle);
    Box expected{1e9F, 1e9F, -1e9F, -1e9F};
    for (const auto& [u, v] : test::product({-3.5, 3.5}, {-1.0, 1.0})) {
      const auto x = static_cast<float>(3 + u * c - v * s);
      const auto y = static_cast<float>(-2 + u * s + v * c);
      expected = {std::min(expected.x1, x), std::min(expected.y1, y), std::max(expected.x2, x),
                  std::max(expected.y2, y)};
    }
    const Box seen = bounds(box);
    EXPECT_NEAR(seen.x1, expected.x1, 1e-5);
    EXPECT_NEAR(seen.y1, expected.y1, 1e-5);
    EXPECT_NEAR(seen.x2, expected.x2, 1e-5);
    EXPECT_NEAR(seen.y2, expected.y2, 1e-5);
  }
}

TEST(RotatedBox, corners_go_around_from_the_top_left) {
  const auto upright = corners({10, 20, 8, 4, 0});
  const float expected[4][2] = {{6, 18}, {14, 18}, {14, 22}, {6, 22}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(upright[i].x, expected[i][0]);
    EXPECT_EQ(upright[i].y, expected[i][1]);
  }
  // Clockwise on the screen, so the top left corner is then at the top right.
  const auto rotated = corners({10, 20, 8, 4, quarter});
  EXPECT_NEAR(rotated[0].x, 12, 1e-5);
  EXPECT_NEAR(rotated[0].y, 16, 1e-5);
  EXPECT_NEAR(rotated[2].x, 8, 1e-5);
  EXPECT_NEAR(rotated[2].y, 24, 1e-5);
}

TEST(RotatedBox, bounds_of_what_is_not_finite_are_not_finite) {
  EXPECT_TRUE(std::isnan(bounds({0, 0, 1, 1, std::numeric_limits<float>::infinity()}).x1));
  EXPECT_TRUE(std::isnan(bounds({0, std::numeric_limits<float>::quiet_NaN(), 1, 1, 0}).y2));
}

TEST(Keypoint, is_equal_by_place_and_score) {
  EXPECT_EQ((Keypoint{{1, 2}, 0.5F}), (Keypoint{{1, 2}, 0.5F}));
  EXPECT_FALSE((Keypoint{{1, 2}, 0.5F}) == (Keypoint{{1, 3}, 0.5F}));
  EXPECT_FALSE((Keypoint{{1, 2}, 0.5F}) == (Keypoint{{1, 2}, 0.6F}));
}

}  // namespace
}  // namespace halyard
