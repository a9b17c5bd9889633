// SPDX-License-Identifier: Apache-2.0
// The block filter against the dense 8 x 8 one written from the textbook.
#include "track/kalman.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <cmath>
#include <random>

namespace halyard::track {
namespace {

using Matrix8 = Eigen::Matrix<double, 8, 8>;
using Vector8 = Eigen::Matrix<double, 8, 1>;
using Matrix48 = Eigen::Matrix<double, 4, 8>;

// F, H, Q, R and the Joseph form as any book has them.
struct Dense {
  Vector8 x = Vector8::Zero();
  Matrix8 p = Matrix8::Zero();

  explicit Dense(const Xyah& z) {
    x.head<4>() = z.matrix();
    const double h = z[3];
    Vector8 deviation;
    deviation << h / 10, h / 10, 1e-2, h / 10, h / 16, h / 16, 1e-5, h / 16;
    p = deviation.array().square().matrix().asDiagonal();
  }

  void predict(double dt) {
    Matrix8 f = Matrix8::Identity();
    f.topRightCorner<4, 4>() = dt * Eigen::Matrix4d::Identity();
    const double h = x[3];
    Vector8 deviation;
    deviation << h / 20, h / 20, 1e-2, h / 20, h / 160, h / 160, 1e-5, h / 160;
    const Vector8 variance = dt * deviation.array().square();
    x = f * x;
    p = f * p * f.transpose();
    p.diagonal() += variance;
  }

  void correct(const Xyah& z, double gain) {
    Matrix48 observe = Matrix48::Zero();
    observe.leftCols<4>() = Eigen::Matrix4d::Identity();
    const double h = x[3];
    Eigen::Vector4d deviation(h / 20, h / 20, 1e-2, h / 20);
    const Eigen::Matrix4d r = deviation.array().square().matrix().asDiagonal();
    const Eigen::Matrix4d s = observe * p * observe.transpose() + r;
    const Eigen::Matrix<double, 8, 4> k = gain * p * observe.transpose() * s.inverse();
    x += k * (z.matrix() - observe * x);
    const Matrix8 rest = Matrix8::Identity() - k * observe;
    p = rest * p * rest.transpose() + k * r * k.transpose();
  }
};

TEST(BoxFilter, converts_boxes_both_ways) {
  const Box box{0.0134F, 0.02135F, 0.12438F, 0.691F};
  const Box back = box_of(xyah_of(box));
  EXPECT_FLOAT_EQ(back.x1, box.x1);
  EXPECT_FLOAT_EQ(back.y1, box.y1);
  EXPECT_FLOAT_EQ(back.x2, box.x2);
  EXPECT_FLOAT_EQ(back.y2, box.y2);
  const Xyah square = xyah_of({0.1F, 0.2F, 0.3F, 0.4F});
  EXPECT_NEAR(square[0], 0.2, 1e-7);
  EXPECT_NEAR(square[1], 0.3, 1e-7);
  EXPECT_NEAR(square[2], 1.0, 1e-6);
  EXPECT_NEAR(square[3], 0.2, 1e-7);
}

TEST(BoxFilter, starts_at_the_measurement_at_rest) {
  const BoxFilter filter({10, 20, 40, 60});
  EXPECT_TRUE(filter.velocity.isZero());
  EXPECT_EQ(filter.box(), (Box{10, 20, 40, 60}));
  EXPECT_TRUE((filter.position_variance > 0).all());
  EXPECT_TRUE((filter.velocity_variance > 0).all());
}

TEST(BoxFilter, equals_the_dense_textbook_filter) {
  std::mt19937 random(3);
  std::normal_distribution<float> noise(0, 1.5F);
  std::uniform_real_distribution<double> unit(0, 1);
  for (const double gain : {0.25, 1.0}) {
    const Box start{100, 100, 140, 200};
    BoxFilter filter(start);
    Dense dense(xyah_of(start));
    for (int frame = 1; frame < 200; ++frame) {
      const double dt = unit(random) * 3;
      filter.predict(dt, false);
      dense.predict(dt);
      const float x = 3.0F * static_cast<float>(frame);
      const Box seen{100 + x + noise(random), 100 + noise(random), 140 + x + noise(random),
                     200 + noise(random)};
      if (frame % 7 != 0) {
        filter.correct(seen, gain);
        dense.correct(xyah_of(seen), gain);
      }
      for (int i = 0; i < 4; ++i) {
        ASSERT_NEAR(filter.mean[i], dense.x[i], 1e-7 * std::abs(dense.x[i])) << frame;
        ASSERT_NEAR(filter.velocity[i], dense.x[i + 4], 1e-7 + 1e-6 * std::abs(dense.x[i + 4]));
        ASSERT_NEAR(filter.position_variance[i] / dense.p(i, i), 1, 1e-6);
        ASSERT_NEAR(filter.velocity_variance[i] / dense.p(i + 4, i + 4), 1, 1e-6);
        ASSERT_NEAR(filter.covariance[i], dense.p(i, i + 4), 1e-9 + 1e-6 * dense.p(i, i));
      }
    }
  }
}

TEST(BoxFilter, prediction_widens_and_correction_narrows) {
  BoxFilter filter({0.4F, 0.4F, 0.6F, 0.6F});
  const double before = filter.position_variance[0];
  filter.predict(1, false);
  const double predicted = filter.position_variance[0];
  EXPECT_GT(predicted, before);
  filter.correct({0.5F, 0.4F, 0.7F, 0.6F}, 0.25);
  EXPECT_LT(filter.position_variance[0], predicted);
  EXPECT_GT(filter.mean[0], 0.5);
  EXPECT_LT(filter.mean[0], 0.6);
}

TEST(BoxFilter, two_half_steps_move_as_far_as_one_step) {
  BoxFilter once({0, 0, 40, 80});
  once.velocity = {4, -2, 0, 0};
  BoxFilter twice = once;
  once.predict(1, false);
  twice.predict(0.5, false);
  twice.predict(0.5, false);
  EXPECT_TRUE(once.mean.isApprox(twice.mean));
}

TEST(BoxFilter, stays_finite_and_upright_however_long_it_predicts) {
  BoxFilter filter({0.2F, 0.2F, 0.4F, 0.4F});
  filter.velocity = {0.01, 0.01, -0.5, -0.5};
  for (int i = 0; i < 1000; ++i)
    filter.predict(1, false);
  EXPECT_TRUE(filter.mean.isFinite().all());
  EXPECT_TRUE(filter.position_variance.isFinite().all());
  EXPECT_GE(filter.mean[2], 0);
  EXPECT_GE(filter.mean[3], 0);
}

TEST(BoxFilter, holds_the_size_of_an_object_out_of_sight) {
  BoxFilter filter({0, 0, 40, 80});
  filter.velocity = {4, 0, 0.1, 5};
  filter.predict(3, true);
  EXPECT_EQ(filter.mean[2], 0.5);
  EXPECT_EQ(filter.mean[3], 80);
  EXPECT_EQ(filter.mean[0], 32);
}

}  // namespace
}  // namespace halyard::track
