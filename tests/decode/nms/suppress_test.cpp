// SPDX-License-Identifier: Apache-2.0
// Suppression with vectors, neighbourhoods and queues is the plain definition, bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "decode/head/scenes.h"
#include "decode/nms/nms.h"
#include "decode/nms/suppress.h"
#include "decode/nms/suppress_reference.h"
#include "decode/tensors.h"

namespace halyard::decode {
namespace {

using test::boxes_of_all_sizes;
using test::crowded_boxes;
using test::random_boxes;

// Candidates in order, as suppress() takes them.
void prepare(const std::vector<Detection>& candidates, Workspace& w) {
  order(candidates, {}, w);
  w.boxes.resize(w.keys.size());
  w.scores.resize(w.keys.size());
  for (std::size_t i = 0; i < w.keys.size(); ++i) {
    const Detection& d = candidates[index_of(w.keys[i])];
    w.boxes.set(i, flat_box(d.box, d.label));
    w.scores[i] = d.score;
  }
}

using Outcome = std::pair<std::vector<std::uint32_t>, std::vector<float>>;

template <class Suppress>
Outcome outcome_of(Suppress suppress, const Rule& rule, Workspace& w) {
  const auto scores = w.scores;
  suppress(rule, w);
  Outcome out{w.kept, {}};
  for (const std::uint32_t i : w.kept)
    out.second.push_back(w.scores[i]);
  w.scores = scores;
  return out;
}

// The measures and rules once more, in double precision and without code of the library.
double measured(Overlap overlap, const Box& a, const Box& b) {
  const double width = double{std::min(a.x2, b.x2)} - std::max(a.x1, b.x1);
  const double height = double{std::min(a.y2, b.y2)} - std::max(a.y1, b.y1);
  if (width <= 0 || height <= 0) return -2;  // below every threshold
  const auto area = [](const Box& box) {
    return (double{box.x2} - box.x1) * (double{box.y2} - box.y1);
  };
  const double shared = width * height;
  if (overlap == Overlap::ios) return shared / std::min(area(a), area(b));
  const double iou = shared / (area(a) + area(b) - shared);
  if (overlap == Overlap::iou) return iou;
  const double dx = (double{a.x1} + a.x2 - b.x1 - b.x2) / 2;
  const double dy = (double{a.y1} + a.y2 - b.y1 - b.y2) / 2;
  const double around_x = double{std::max(a.x2, b.x2)} - std::min(a.x1, b.x1);
  const double around_y = double{std::max(a.y2, b.y2)} - std::min(a.y1, b.y1);
  return iou - (dx * dx + dy * dy) / (around_x * around_x + around_y * around_y);
}

struct Kept {
  std::vector<std::size_t> boxes;
  std::vector<double> scores;
};

// `boxes` lie best first.
Kept firmly(const Rule& rule, const std::vector<Detection>& boxes) {
  Kept kept;
  std::vector<std::size_t> suppressors;
  for (std::size_t i = 0; i < boxes.size() && kept.boxes.size() < rule.maximum; ++i) {
    bool goes = false;
    for (const std::size_t k : suppressors) {
      goes = goes || (boxes[k].label == boxes[i].label &&
                      measured(rule.overlap, boxes[k].box, boxes[i].box) > rule.threshold);
    }
    if (!goes || rule.suppression == Suppression::fast) suppressors.push_back(i);
    if (goes) continue;
    kept.boxes.push_back(i);
    kept.scores.push_back(boxes[i].score);
  }
  return kept;
}

Kept softly(const Rule& rule, const std::vector<Detection>& boxes) {
  Kept kept;
  const bool is_linear = rule.suppression == Suppression::soft_linear;
  std::vector<double> scores;
  for (const Detection& each : boxes)
    scores.push_back(each.score);
  std::vector<std::size_t> left(boxes.size());
  std::iota(left.begin(), left.end(), 0);
  while (!left.empty() && kept.boxes.size() < rule.maximum) {
    const auto best = std::max_element(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
      return scores[a] < scores[b];
    });
    const std::size_t k = *best;
    kept.boxes.push_back(k);
    kept.scores.push_back(scores[k]);
    left.erase(best);
    std::erase_if(left, [&](std::size_t i) {
      const double overlap = measured(rule.overlap, boxes[k].box, boxes[i].box);
      if (boxes[i].label != boxes[k].label || overlap <= (is_linear ? rule.threshold : 0))
        return false;
      if (scores[i] <= 0 || overlap <= 0) return false;
      scores[i] *= is_linear ? 1 - overlap : std::exp(-overlap * overlap / rule.sigma);
      return scores[i] < rule.floor;
    });
  }
  return kept;
}

// With coordinates of which floats hold every extent and area exactly.
std::vector<Detection> in_eighths(std::vector<Detection> boxes) {
  for (Detection& each : boxes) {
    for (float* side : {&each.box.x1, &each.box.y1, &each.box.x2, &each.box.y2})
      *side = std::round(*side * 8) / 8;
  }
  return boxes;
}

class Suppressed : public testing::TestWithParam<std::tuple<Suppression, Overlap>> {
 protected:
  Rule rule_of(float threshold, std::size_t maximum) const {
    const auto [suppression, overlap] = GetParam();
    return {suppression, overlap, threshold, 0.5F, 0.05F, maximum};
  }
  void expect_plain(const std::vector<Detection>& candidates, std::initializer_list<float> limits) {
    Workspace w;  // the same for all, so that what calls leave behind is met
    for (const float threshold : limits) {
      for (const std::size_t maximum : {std::size_t{1}, std::size_t{20}, std::size_t{1000000}}) {
        prepare(candidates, w);
        const Rule rule = rule_of(threshold, maximum);
        const Outcome expected = outcome_of(suppress_reference, rule, w);
        test::for_each_target([&] {
          ASSERT_EQ(outcome_of(suppress, rule, w), expected) << threshold << " " << maximum;
        });
      }
    }
  }
};

TEST_P(Suppressed, equals_the_definition_on_few_boxes) {
  for (unsigned round = 0; round < 12; ++round)
    expect_plain(random_boxes(1 + round * 57, round), {0, 0.25F, 0.5F, 0.9F, 1});
}

TEST_P(Suppressed, equals_the_definition_on_many_boxes_of_all_sizes) {
  expect_plain(boxes_of_all_sizes(1600, 3, 400), {0, 0.05F, 0.3F, 0.7F});
  expect_plain(boxes_of_all_sizes(1600, 4, 20, 40), {0.45F});
}

TEST_P(Suppressed, equals_the_definition_on_crowds) {
  expect_plain(crowded_boxes(1600, 5, 400), {0.1F, 0.45F, 0.8F, 0.99F});
}

TEST_P(Suppressed, equals_the_definition_on_extreme_boxes) {
  std::mt19937 random(8);
  std::vector<Detection> boxes;
  for (int i = 0; i < 1500; ++i) {  // extents of 2^-140 .. 2^120
    const float w = std::ldexp(1 + test::unit(random), -140 + i % 260);
    const float h = std::ldexp(1 + test::unit(random), 120 - i % 251);
    const float x = i % 3 == 0 ? 0 : w * test::unit(random);
    boxes.push_back({{x, 0, x + w, h}, test::unit(random), i % 2, i});
    if (i % 5 == 0) boxes.back().box.y2 = -h;
    if (i % 7 == 0) boxes.back().box.x1 = std::numeric_limits<float>::quiet_NaN();
    if (i % 11 == 0) boxes.back().box.x2 = std::numeric_limits<float>::infinity();
  }
  expect_plain(boxes, {0, 0.3F});
}

TEST_P(Suppressed, equals_the_formulas_written_once_more) {
  Workspace w;
  for (unsigned round = 0; round < 8; ++round) {
    const auto crowd = in_eighths(crowded_boxes(40 + 30 * round, 20 + round, 12));
    prepare(crowd, w);
    std::vector<Detection> ordered;
    for (const std::uint64_t key : w.keys)
      ordered.push_back(crowd[index_of(key)]);
    for (const float threshold : {0.0F, 0.25F, 0.5F, 0.75F}) {
      for (const std::size_t maximum : {std::size_t{20}, std::size_t{1000000}}) {
        const Rule rule = rule_of(threshold, maximum);
        const bool is_firm =
            rule.suppression == Suppression::greedy || rule.suppression == Suppression::fast;
        const Kept wanted = is_firm ? firmly(rule, ordered) : softly(rule, ordered);
        const Outcome found = outcome_of(suppress, rule, w);
        ASSERT_EQ(std::vector<std::size_t>(found.first.begin(), found.first.end()), wanted.boxes)
            << round << " " << threshold << " " << maximum;
        for (std::size_t i = 0; i < wanted.scores.size(); ++i)
          ASSERT_NEAR(found.second[i], wanted.scores[i], 1e-5) << round << " " << threshold;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Suppressed,
    testing::Combine(testing::Values(Suppression::greedy, Suppression::fast,
                                     Suppression::soft_linear, Suppression::soft_gaussian),
                     testing::Values(Overlap::iou, Overlap::diou, Overlap::ios)));

TEST(SuppressedLarge, boxes_that_nobody_overlaps_all_survive) {
  // So many that neighbourhoods are in use, at places where floats are coarse.
  std::vector<Detection> boxes;
  for (int i = 0; i < 30000; ++i) {
    const auto x = static_cast<float>(i % 200 * 8 - 800);
    const auto y = static_cast<float>(i / 200 * 8) + 100000;
    boxes.push_back({{x, y, x + 7, y + 7}, static_cast<float>(i * 7919 % 30011), 0, i});
  }
  EXPECT_EQ(non_maximum_suppression(boxes)->size(), boxes.size());
  // Each once more, a little worse and a little aside.
  auto twice = boxes;
  for (auto d : boxes) {
    d.box = {d.box.x1 + 1, d.box.y1, d.box.x2 + 1, d.box.y2};
    d.score -= 0.5F;
    twice.push_back(d);
  }
  EXPECT_EQ(*non_maximum_suppression(twice), *non_maximum_suppression(boxes));
}

}  // namespace
}  // namespace halyard::decode
