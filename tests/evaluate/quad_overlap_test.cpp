// SPDX-License-Identifier: Apache-2.0
// Areas of quadrilaterals that follow by hand, and against a count of points. Random rotated boxes
// are compared with OpenCV in tests/oracle/test_val_rotated.py.
#include "evaluate/quad_overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "halyard/detection.h"

namespace halyard::evaluate {
namespace {

Quad square(double x, double y, double side) {
  return {{{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}}};
}

Quad quad_of(const RotatedBox& box) {
  Quad out;
  const auto at = halyard::corners(box);
  for (std::size_t i = 0; i < at.size(); ++i)
    out[i] = {at[i].x, at[i].y};
  return out;
}

TEST(QuadOverlap, areas_that_follow_by_hand) {
  const Quad unit = square(0, 0, 1);
  EXPECT_DOUBLE_EQ(quad_area(square(5, -3, 4)), 16);
  EXPECT_DOUBLE_EQ(shared_area(unit, unit), 1);
  EXPECT_DOUBLE_EQ(shared_area(unit, square(0.5, 0.25, 1)), 0.375);
  EXPECT_DOUBLE_EQ(shared_area(square(0, 0, 10), square(2, 2, 3)), 9) << "inside";
  EXPECT_EQ(shared_area(unit, square(1, 0, 1)), 0) << "a common edge";
  EXPECT_EQ(shared_area(unit, square(7, 0, 1)), 0);
}

TEST(QuadOverlap, a_square_and_itself_at_45_degrees_share_an_octagon) {
  const Quad upright = square(-1, -1, 2);
  const double r = std::sqrt(2.0);
  const Quad rotated{{{r, 0}, {0, r}, {-r, 0}, {0, -r}}};
  EXPECT_NEAR(shared_area(upright, rotated), 8 * (r - 1), 1e-12);
}

TEST(QuadOverlap, the_direction_of_an_outline_does_not_matter) {
  const Quad a = square(0, 0, 4);
  Quad b = square(1, 2, 4);
  const double wanted = shared_area(a, b);
  std::reverse(b.begin(), b.end());
  EXPECT_DOUBLE_EQ(shared_area(a, b), wanted);
  EXPECT_DOUBLE_EQ(shared_area(b, a), wanted);
  EXPECT_DOUBLE_EQ(quad_area(b), 16);
}

TEST(QuadOverlap, shapes_without_area_share_nothing) {
  const Quad point = square(0.5, 0.5, 0);
  const Quad line{{{0, 0}, {1, 1}, {2, 2}, {1, 1}}};
  for (const Quad& flat : {point, line}) {
    EXPECT_TRUE(is_convex(flat));
    EXPECT_EQ(shared_area(flat, square(0, 0, 4)), 0);
    EXPECT_EQ(shared_area(square(0, 0, 4), flat), 0);
  }
}

TEST(QuadOverlap, shapes_that_are_not_convex_are_seen) {
  EXPECT_TRUE(is_convex(square(3, 3, 2)));
  EXPECT_FALSE(is_convex({{{0, 0}, {4, 4}, {4, 0}, {0, 4}}})) << "crosses itself";
  EXPECT_FALSE(is_convex({{{0, 0}, {4, 0}, {1, 1}, {0, 4}}})) << "bends inwards";
  EXPECT_FALSE(is_convex({{{0, 0}, {std::numeric_limits<double>::infinity(), 0}, {1, 1}, {0, 4}}}));
  EXPECT_FALSE(is_convex({{{0, 0}, {std::nan(""), 0}, {1, 1}, {0, 4}}}));
}

bool is_inside(const RotatedBox& box, double x, double y) {
  const double c = std::cos(static_cast<double>(box.angle));
  const double s = std::sin(static_cast<double>(box.angle));
  const double u = (x - box.cx) * c + (y - box.cy) * s, v = (y - box.cy) * c - (x - box.cx) * s;
  return std::abs(u) <= box.width / 2 && std::abs(v) <= box.height / 2;
}

TEST(QuadOverlap, shared_areas_are_those_of_a_fine_grid) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> at(-4, 4), extent(1, 9), angle(-4, 4);
  for (int k = 0; k < 40; ++k) {
    const RotatedBox a{at(random), at(random), extent(random), extent(random), angle(random)};
    const RotatedBox b{at(random), at(random), extent(random), extent(random), angle(random)};
    constexpr int steps = 400;
    constexpr double low = -12, cell = 24.0 / steps;
    int both = 0;
    for (int i = 0; i < steps * steps; ++i) {
      const double x = low + (i % steps + 0.5) * cell, y = low + (i / steps + 0.5) * cell;
      both += is_inside(a, x, y) && is_inside(b, x, y) ? 1 : 0;
    }
    EXPECT_NEAR(shared_area(quad_of(a), quad_of(b)), both * cell * cell, 0.25) << k;
    EXPECT_NEAR(quad_area(quad_of(a)), static_cast<double>(a.width) * a.height, 1e-4);
  }
}

}  // namespace
}  // namespace halyard::evaluate
