// SPDX-License-Identifier: Apache-2.0
// Rotated boxes: probabilistic IoU against its formula, selection against every pair.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>

#include "decode/head/scenes.h"
#include "decode/nms/nms.h"
#include "support/special_values.h"

namespace halyard::decode {
namespace {

using test::infinity;
using test::nan;
using test::unit;

constexpr double pi_exact = 3.14159265358979323846;

// The formula of batch_probiou as it is written, with its 1e-7 or without, in double precision.
double formula(const RotatedBox& p, const RotatedBox& q, double eps) {
  const auto covariance = [](const RotatedBox& box) {
    const double a = box.width * double{box.width} / 12, b = box.height * double{box.height} / 12;
    const double c = std::cos(double{box.angle}), s = std::sin(double{box.angle});
    return std::array{a * c * c + b * s * s, a * s * s + b * c * c, (a - b) * c * s};
  };
  const auto [a1, b1, c1] = covariance(p);
  const auto [a2, b2, c2] = covariance(q);
  const double x = p.cx - double{q.cx}, y = p.cy - double{q.cy};
  const double det = (a1 + a2) * (b1 + b2) - (c1 + c2) * (c1 + c2);
  const double t1 = ((a1 + a2) * y * y + (b1 + b2) * x * x) / (det + eps) * 0.25;
  const double t2 = (c1 + c2) * -x * y / (det + eps) * 0.5;
  const double own = std::max(a1 * b1 - c1 * c1, 0.0) * std::max(a2 * b2 - c2 * c2, 0.0);
  const double t3 = std::log(det / (4 * std::sqrt(own) + eps) + eps) * 0.5;
  const double distance = std::clamp(t1 + t2 + t3, eps, 100.0);
  return 1 - std::sqrt(1 - std::exp(-distance) + eps);
}

std::vector<RotatedBox> rotated_boxes(std::size_t count, unsigned seed, float spread) {
  std::mt19937 random(seed);
  std::vector<RotatedBox> out(count);
  for (RotatedBox& box : out) {
    box = {spread * unit(random), spread * unit(random), 4 * std::pow(30.0F, unit(random)),
           4 * std::pow(30.0F, unit(random)),
           static_cast<float>(2 * pi_exact) * (unit(random) - 0.5F)};
  }
  return out;
}

TEST(ProbabilisticIou, is_the_formula) {
  const auto boxes = rotated_boxes(300, 1, 100);
  int apart = 0;
  for (std::size_t i = 0; i + 1 < boxes.size(); ++i) {
    const double exact = formula(boxes[i], boxes[i + 1], 0);
    EXPECT_NEAR(probabilistic_iou(boxes[i], boxes[i + 1]), exact, 2e-7);
    EXPECT_NEAR(exact, formula(boxes[i], boxes[i + 1], 1e-7), 1e-4);  // what the terms do
    apart += exact < 0.01 ? 1 : 0;
  }
  EXPECT_GT(apart, 10);
  EXPECT_LT(apart, 290);
}

TEST(ProbabilisticIou, is_one_for_equal_boxes_however_written_and_symmetric) {
  const RotatedBox box{50, 60, 40, 10, 0.3F};
  const RotatedBox same{50, 60, 10, 40, static_cast<float>(0.3 + pi_exact / 2)};
  EXPECT_EQ(probabilistic_iou(box, box), 1);
  EXPECT_NEAR(probabilistic_iou(box, same), 1, 1e-6);
  EXPECT_NEAR(probabilistic_iou(box, {50, 60, 40, 10, static_cast<float>(0.3 - pi_exact)}), 1,
              1e-6);
  const RotatedBox other{55, 63, 30, 12, 1};
  EXPECT_FLOAT_EQ(probabilistic_iou(box, other), probabilistic_iou(other, box));
  EXPECT_EQ(probabilistic_iou(box, {5000, 60, 40, 10, 0}), 0);
}

TEST(ProbabilisticIou, of_lines_and_of_boxes_far_out_stays_a_number) {
  const RotatedBox line{0, 0, 10000, 1e-3F, 0.7F};
  EXPECT_EQ(probabilistic_iou(line, line), 1);
  const RotatedBox huge{1e30F, -1e30F, 1e37F, 1e36F, 0.1F};
  EXPECT_EQ(probabilistic_iou(huge, huge), 1);
  const RotatedBox tiny{0, 0, 1e-40F, 1e-30F, 0.1F};
  EXPECT_EQ(probabilistic_iou(tiny, tiny), 1);
}

TEST(ProbabilisticIou, of_empty_and_not_finite_boxes_is_zero) {
  const RotatedBox box{5, 5, 4, 4, 0};
  for (const RotatedBox& bad :
       {RotatedBox{5, 5, 0, 4, 0}, RotatedBox{5, 5, 4, -4, 0}, RotatedBox{nan, 5, 4, 4, 0},
        RotatedBox{5, 5, 4, nan, 0}, RotatedBox{5, 5, 4, 4, nan}, RotatedBox{5, 5, 4, 4, infinity},
        RotatedBox{5, 5, infinity, 4, 0}}) {
    EXPECT_EQ(probabilistic_iou(box, bad), 0);
    EXPECT_EQ(probabilistic_iou(bad, bad), 0);
  }
}

// Every pair, scores eagerly.
std::vector<std::uint32_t> every_pair(const std::vector<Detection>& d,
                                      const std::vector<RotatedBox>& boxes,
                                      const SelectionOptions& options, std::vector<float>& scores) {
  scores.clear();
  const bool soft = options.suppression >= Suppression::soft_linear;
  std::vector<float> now;
  for (const Detection& one : d)
    now.push_back(one.score);
  std::vector<char> taken(d.size()), gone(d.size());
  std::vector<std::uint32_t> kept;
  for (std::size_t round = 0; round < d.size(); ++round) {
    std::size_t best = d.size();
    for (std::size_t i = 0; i < d.size(); ++i) {
      if (!taken[i] && (!soft || !gone[i]) && (best == d.size() || now[i] > now[best])) best = i;
    }
    if (best == d.size()) break;
    taken[best] = true;
    if (!gone[best]) {
      kept.push_back(static_cast<std::uint32_t>(best));
      scores.push_back(now[best]);
    }
    if (gone[best] && options.suppression != Suppression::fast) continue;
    for (std::size_t i = 0; i < d.size(); ++i) {
      if (taken[i] || d[i].label != d[best].label) continue;
      const float overlap = probabilistic_iou(boxes[best], boxes[i]);
      const float before = now[i];
      if (!soft) {
        gone[i] = gone[i] || overlap > options.iou_threshold;
      } else if (options.suppression == Suppression::soft_gaussian) {
        now[i] *= static_cast<float>(std::exp(-double{overlap} * overlap / options.soft_sigma));
      } else if (overlap > options.iou_threshold) {
        now[i] *= 1 - overlap;
      }
      gone[i] = gone[i] || (now[i] != before && now[i] < options.soft_floor);
    }
  }
  return kept;
}

class RotatedSelection : public testing::TestWithParam<std::tuple<Suppression, float>> {};

TEST_P(RotatedSelection, is_that_of_every_pair) {
  SelectionOptions options;
  std::tie(options.suppression, options.iou_threshold) = GetParam();
  options.soft_floor = 0.02F;
  auto selector = *Selector::create(options);
  for (const auto& [count, spread] : {std::pair{60, 60.0F}, {1200, 400.0F}, {1300, 3000.0F}}) {
    std::mt19937 random(7);
    const auto boxes = rotated_boxes(static_cast<std::size_t>(count), 5, spread);
    std::vector<Detection> candidates(boxes.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      candidates[i].score = unit(random);
      candidates[i].label = static_cast<std::int32_t>(random() % 2);
    }
    const auto kept = *selector.select(candidates, boxes);
    std::vector<float> scores;
    const auto expected = every_pair(candidates, boxes, options, scores);
    ASSERT_EQ(std::vector(kept.begin(), kept.end()), expected);
    for (std::size_t i = 0; i < scores.size(); ++i)
      EXPECT_NEAR(selector.scores()[i], scores[i], 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RotatedSelection,
                         testing::Combine(testing::Values(Suppression::greedy, Suppression::fast,
                                                          Suppression::soft_linear,
                                                          Suppression::soft_gaussian),
                                          testing::Values(0.1F, 0.45F, 0.7F, 0.95F)));

TEST(RotatedBoxes, empty_boxes_and_twins_at_threshold_one_stay) {
  const std::vector<RotatedBox> boxes{
      {5, 5, 4, 4, 0}, {5, 5, 4, 4, 0}, {5, 5, 0, 4, 0}, {5, 5, 4, 4, nan}};
  std::vector<Detection> candidates(4);
  auto selector = *Selector::create({.iou_threshold = 0.5F});
  EXPECT_EQ(selector.select(candidates, boxes)->size(), 3U);
  auto keeping = *Selector::create({.iou_threshold = 1});
  EXPECT_EQ(keeping.select(candidates, boxes)->size(), 4U);
}

}  // namespace
}  // namespace halyard::decode
