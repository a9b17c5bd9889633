// SPDX-License-Identifier: Apache-2.0
// The block filters, f32, against dense ones in double, written from the textbook.
#include "track/kalman.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "track/area_filter.h"

namespace halyard::track {
namespace {

using Vector8 = Eigen::Matrix<double, 8, 1>;
using Matrix8 = Eigen::Matrix<double, 8, 8>;
using Matrix48 = Eigen::Matrix<double, 4, 8>;

Vector8 vector_of(std::initializer_list<double> values) {
  Vector8 out;
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

Eigen::Vector4d measured_xyah(const Box& b) {
  const double w = static_cast<double>(b.x2) - b.x1;
  const double h = static_cast<double>(b.y2) - b.y1;
  return {(static_cast<double>(b.x1) + b.x2) / 2, (static_cast<double>(b.y1) + b.y2) / 2, w / h, h};
}

Eigen::Vector4d measured_xysr(const Box& b) {
  const Eigen::Vector4d xyah = measured_xyah(b);
  const double w = static_cast<double>(b.x2) - b.x1;
  return {xyah[0], xyah[1], w * xyah[3], xyah[2]};
}

// F, H, Q, R and the Joseph form as any book has them: eight states, the last four the velocities
// of the first four. A state without a velocity has one of no variance.
struct Dense {
  Vector8 x = Vector8::Zero();
  Matrix8 p = Matrix8::Zero();

  Dense(const Eigen::Vector4d& z, const Vector8& variance) {
    x.head<4>() = z;
    p = variance.asDiagonal();
  }
  void predict(double dt, double coupling, const Vector8& process) {
    Matrix8 f = Matrix8::Identity();
    f.topRightCorner<4, 4>() = coupling * dt * Eigen::Matrix4d::Identity();
    x = f * x;
    p = f * p * f.transpose();
    p.diagonal() += dt * process;
  }
  void correct(const Eigen::Vector4d& z, double gain, const Eigen::Vector4d& noise) {
    Matrix48 observe = Matrix48::Zero();
    observe.leftCols<4>() = Eigen::Matrix4d::Identity();
    const Eigen::Matrix4d r = noise.asDiagonal();
    const Eigen::Matrix4d s = observe * p * observe.transpose() + r;
    const Eigen::Matrix<double, 8, 4> k = gain * p * observe.transpose() * s.inverse();
    x += k * (z - observe * x);
    const Matrix8 rest = Matrix8::Identity() - k * observe;
    p = rest * p * rest.transpose() + k * r * k.transpose();
  }
};

Vector8 squares(const Vector8& deviation) {
  return deviation.array().square();
}

// The figures of DeepSORT and ByteTrack.
Vector8 first_variance(double h) {
  return squares(vector_of({h / 10, h / 10, 1e-2, h / 10, h / 16, h / 16, 1e-5, h / 16}));
}
Vector8 process_variance(double h) {
  return squares(vector_of({h / 20, h / 20, 1e-2, h / 20, h / 160, h / 160, 1e-5, h / 160}));
}
Eigen::Vector4d noise_variance(double h, double aspect) {
  return Eigen::Vector4d(h / 20, h / 20, aspect, h / 20).array().square();
}

template <class Filter>
void expect_same(const Filter& filter, const Dense& dense, int frame) {
  for (int i = 0; i < 4; ++i) {
    const double scale = std::sqrt(dense.p(i, i)) + std::abs(dense.x[i]);
    ASSERT_NEAR(filter.mean[i], dense.x[i], 2e-6 * scale) << i << " at " << frame;
    const double speed = std::sqrt(dense.p(i + 4, i + 4)) + std::abs(dense.x[i + 4]);
    ASSERT_NEAR(filter.velocity[i], dense.x[i + 4], 2e-5 * speed + 1e-12) << i << " at " << frame;
    ASSERT_NEAR(filter.position_variance[i], dense.p(i, i), 1e-5 * dense.p(i, i));
    ASSERT_NEAR(filter.velocity_variance[i], dense.p(i + 4, i + 4), 1e-4 * dense.p(i + 4, i + 4));
    ASSERT_NEAR(filter.covariance[i], dense.p(i, i + 4),
                1e-4 * std::sqrt(dense.p(i, i) * dense.p(i + 4, i + 4)));
  }
}

// A box that moves, grows and jitters; steps of uneven length; now and then out of sight.
struct Walk {
  std::mt19937 random{3};
  Box at(int frame, float scale) {
    std::normal_distribution<float> noise(0, 1.5F);
    const float x = 3.0F * static_cast<float>(frame);
    const float grown = 0.2F * static_cast<float>(frame);
    return {scale * (100 + x + noise(random)), scale * (100 + noise(random)),
            scale * (140 + x + noise(random) + grown), scale * (200 + noise(random) + grown)};
  }
  double step() { return 3 * std::uniform_real_distribution<double>(0, 1)(random); }
};

TEST(BoxFilter, converts_boxes_both_ways) {
  const Box box{0.0134F, 0.02135F, 0.12438F, 0.691F};
  const Box back = box_of(xyah_of(box));
  constexpr float epsilon = std::numeric_limits<float>::epsilon();
  EXPECT_NEAR(back.x1, box.x1, epsilon);
  EXPECT_NEAR(back.y1, box.y1, epsilon);
  EXPECT_NEAR(back.x2, box.x2, epsilon);
  EXPECT_NEAR(back.y2, box.y2, epsilon);
  const Xyah square = xyah_of({0.1F, 0.2F, 0.3F, 0.4F});
  EXPECT_NEAR(square[0], 0.2F, epsilon);
  EXPECT_NEAR(square[1], 0.3F, epsilon);
  EXPECT_NEAR(square[2], 1.0F, 2 * epsilon);
  EXPECT_NEAR(square[3], 0.2F, epsilon);
}

TEST(BoxFilter, starts_at_the_measurement_at_rest) {
  // Centre (0.3, 0.7), aspect 1.5, height 2.
  const BoxFilter filter({-1.2F, -0.3F, 1.8F, 1.7F});
  EXPECT_NEAR(filter.mean[0], 0.3F, 1e-6F);
  EXPECT_NEAR(filter.mean[1], 0.7F, 1e-6F);
  EXPECT_NEAR(filter.mean[2], 1.5F, 1e-6F);
  EXPECT_NEAR(filter.mean[3], 2.0F, 1e-6F);
  EXPECT_TRUE(filter.velocity.isZero());
  EXPECT_TRUE((filter.position_variance > 0).all());
  EXPECT_TRUE((filter.velocity_variance > 0).all());
}

TEST(BoxFilter, equals_the_dense_textbook_filter_in_double) {
  for (const double gain : {0.25, 1.0}) {
    for (const auto& [aspect, coupling] : {std::pair{1e-2, 3.0F}, std::pair{1e-1, 1.0F}}) {
      for (const float scale : {1.0F, 1e-3F}) {  // pixels, fractions
        Walk walk;
        const Box start = walk.at(0, scale);
        BoxFilter filter(start);
        const Eigen::Vector4d first = measured_xyah(start);
        Dense dense(first, first_variance(first[3]));
        for (int frame = 1; frame < 200; ++frame) {
          const double dt = walk.step();
          filter.predict(dt, coupling);
          dense.predict(dt, coupling, process_variance(dense.x[3]));
          const Box seen = walk.at(frame, scale);
          if (frame % 7 != 0) {
            filter.correct(seen, static_cast<float>(gain), static_cast<float>(aspect));
            dense.correct(measured_xyah(seen), gain, noise_variance(dense.x[3], aspect));
          }
          ASSERT_NO_FATAL_FAILURE(expect_same(filter, dense, frame));
        }
      }
    }
  }
}

TEST(AreaFilter, equals_the_dense_textbook_filter_in_double) {
  const Vector8 process = vector_of({1, 1, 1, 1, 1e-2, 1e-2, 1e-4, 0});
  Walk walk;
  const Box start = walk.at(0, 1);
  AreaFilter filter(start);
  Dense dense(measured_xysr(start), vector_of({10, 10, 10, 10, 1e4, 1e4, 1e4, 0}));
  for (int frame = 1; frame < 200; ++frame) {
    const double dt = walk.step();
    filter.predict(dt);
    dense.predict(dt, 1, process);
    const Box seen = walk.at(frame, 1);
    if (frame % 7 != 0) {
      filter.correct(seen);
      dense.correct(measured_xysr(seen), 1, {1, 1, 10, 10});
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(filter, dense, frame));
  }
}

TEST(BoxFilter, prediction_widens_and_correction_narrows) {
  BoxFilter filter({0.4F, 0.4F, 0.6F, 0.6F});
  const float before = filter.position_variance[0];
  filter.predict(1, 1);
  const float predicted = filter.position_variance[0];
  EXPECT_GT(predicted, before);
  filter.correct({0.5F, 0.4F, 0.7F, 0.6F}, 0.25F, 1e-2F);
  EXPECT_LT(filter.position_variance[0], predicted);
  EXPECT_GT(filter.mean[0], 0.5F);
  EXPECT_LT(filter.mean[0], 0.6F);
}

TEST(BoxFilter, two_half_steps_move_as_far_as_one_step) {
  BoxFilter once({0, 0, 40, 80});
  once.velocity = {4, -2, 0, 0};
  BoxFilter twice = once;
  once.predict(1, 1);
  twice.predict(0.5, 1);
  twice.predict(0.5, 1);
  EXPECT_TRUE(once.mean.isApprox(twice.mean));
}

template <class Filter>
bool is_finite(const Filter& filter) {
  const Box box = filter.box();
  return filter.mean.isFinite().all() && filter.velocity.isFinite().all() &&
         filter.position_variance.isFinite().all() && filter.covariance.isFinite().all() &&
         filter.velocity_variance.isFinite().all() && std::isfinite(box.x1) &&
         std::isfinite(box.y1) && std::isfinite(box.x2) && std::isfinite(box.y2) &&
         box.x1 <= box.x2 && box.y1 <= box.y2;
}

TEST(BoxFilter, stays_finite_and_upright_however_long_it_predicts) {
  for (const double dt : {1.0, 1e6, 1e18}) {
    for (const Box& box : {Box{0.2F, 0.2F, 0.4F, 0.4F}, Box{-1e9F, -1e9F, 1e9F, 1e9F}}) {
      for (const float growth : {-0.5F, 1.0F}) {  // by its height in each frame
        BoxFilter filter(box);
        filter.velocity = {0.01F, 0.01F, -0.5F, growth * box.height()};
        AreaFilter other(box);
        other.velocity = {0.01F, 0.01F, growth, 0};
        for (int i = 0; i < 1000; ++i) {
          filter.predict(dt, 3);
          other.predict(dt);
          ASSERT_TRUE(is_finite(filter)) << dt;
          ASSERT_TRUE(is_finite(other)) << dt;
        }
        filter.correct(box, 1, 1e-2F);
        other.correct(box);
        EXPECT_TRUE(is_finite(filter)) << dt;
        EXPECT_TRUE(is_finite(other)) << dt;
      }
    }
  }
}

TEST(BoxFilter, shrinks_to_a_quarter_in_one_step_at_most) {
  BoxFilter filter({0, 0, 40, 80});
  filter.velocity = {0, 0, -10, -1000};
  filter.predict(1, 1);
  EXPECT_EQ(filter.mean[2], 0.125F);
  EXPECT_EQ(filter.mean[3], 20);
  filter.position_variance[2] = filter.position_variance[3] = 1e6F;  // trusts the measurement
  filter.correct({0, 0, 1e-4F, 1}, 1, 1e-2F);
  EXPECT_EQ(filter.mean[2], 0.125F / 4);
  EXPECT_EQ(filter.mean[3], 5);
}

TEST(BoxFilter, holds_the_size_of_an_object_out_of_sight) {
  BoxFilter filter({0, 0, 40, 80});
  filter.velocity = {4, 0, 0.1F, 5};
  filter.stop_aspect();
  filter.stop_height();
  filter.predict(3, 1);
  EXPECT_EQ(filter.mean[2], 0.5F);
  EXPECT_EQ(filter.mean[3], 80);
  EXPECT_EQ(filter.mean[0], 32);
}

TEST(AreaFilter, does_not_depend_on_the_unit_of_boxes) {
  AreaFilter pixels({100, 100, 140, 200});
  AreaFilter fractions({0.1F, 0.1F, 0.14F, 0.2F});
  for (int i = 1; i < 20; ++i) {
    const float x = static_cast<float>(i * i) / 8;
    pixels.predict(1);
    fractions.predict(1);
    pixels.correct({100 + x, 100, 140 + x, 200});
    fractions.correct({0.1F + x / 1000, 0.1F, 0.14F + x / 1000, 0.2F});
    EXPECT_NEAR(pixels.box().x1 / 1000, fractions.box().x1, 1e-5F);
    EXPECT_NEAR(pixels.box().y2 / 1000, fractions.box().y2, 1e-5F);
  }
}

TEST(AreaFilter, keeps_an_area_that_would_vanish) {
  AreaFilter filter({0, 0, 40, 80});
  filter.velocity = {0, 0, -2000, 0};
  filter.predict(2);
  EXPECT_EQ(filter.mean[2], 3200);
  EXPECT_EQ(filter.velocity[2], 0);
}

}  // namespace
}  // namespace halyard::track
