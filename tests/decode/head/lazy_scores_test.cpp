// SPDX-License-Identifier: Apache-2.0
// Softmax and tanh are computed for few boxes: the result is that of computing them for all.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "decode/head/box_coding.h"
#include "decode/tensors.h"
#include "heads.h"
#include "support/special_values.h"

namespace halyard::test {
namespace {

constexpr std::size_t lazy_boxes = 400, lazy_classes = 6;

// [boxes, features] of logits; a background comes first, and in each third box one class alone has
// a share beside it. A few are not finite.
std::vector<float> any_logits(std::size_t features, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 2);
  std::vector<float> out(lazy_boxes * features);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t feature = i % features;
    out[i] = normal(random);
    if (features > lazy_classes && feature == 0) out[i] += 3;
    if (features > lazy_classes && feature > 1 && i / features % 3 == 0) out[i] -= 60;
    const auto which = random() % 400;
    if (which < 4) out[i] = std::array{infinity, -infinity, std::nanf(""), 90.0F}[which];
  }
  return out;
}

ModelDescription head_of(std::size_t features, Activation activation) {
  auto out = model_of({64, 64}, {output_of(OutputRole::boxes, {1, lazy_boxes, 4}),
                                 output_of(OutputRole::scores, {1, lazy_boxes, features})});
  out.outputs[0].encoding = BoxEncoding::corners;
  out.outputs[1].activation = activation;
  if (features > lazy_classes) out.outputs[0].family = out.outputs[1].family = Family::ssd;
  for (OutputDescription& output : out.outputs)
    output.axes = {AxisName::batch, AxisName::num_boxes, AxisName::num_features};
  return out;
}

// [boxes, classes], every box.
std::vector<float> all_scores(const std::vector<float>& logits, std::size_t features,
                              Activation activation) {
  std::vector<float> out;
  for (std::size_t b = 0; b < lazy_boxes; ++b) {
    std::vector<float> row(logits.begin() + static_cast<std::ptrdiff_t>(b * features),
                           logits.begin() + static_cast<std::ptrdiff_t>((b + 1) * features));
    if (activation == Activation::softmax) {
      decode::softmax(row);
    } else {
      for (float& v : row)
        v = 2 * decode::sigmoid(2 * v) - 1;
    }
    out.insert(out.end(), row.end() - lazy_classes, row.end());
  }
  return out;
}

// Anchor, class and score of what passes: the first best class of a box, or all.
std::vector<std::tuple<int, int, float>> passing(const std::vector<float>& scores, float threshold,
                                                 bool multi_label) {
  std::vector<std::tuple<int, int, float>> out;
  for (int b = 0; b < static_cast<int>(lazy_boxes); ++b) {
    bool has_one = false;
    for (int c = 0; c < static_cast<int>(lazy_classes); ++c) {
      const float score =
          scores[static_cast<std::size_t>(b) * lazy_classes + static_cast<std::size_t>(c)];
      if (!(score >= threshold)) continue;
      if (multi_label || !has_one) {
        out.emplace_back(b, c, score);
      } else if (score > std::get<2>(out.back())) {
        out.back() = {b, c, score};
      }
      has_one = true;
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// All zero and one, and floats on and beside scores that there are.
std::vector<float> thresholds_of(const std::vector<float>& scores) {
  std::vector<float> out{0, 1e-30F, 0.001F, 0.5F, 1};
  for (std::size_t i = 0; i < scores.size(); i += 45) {
    if (!(scores[i] >= 0)) continue;
    for (const float v :
         {scores[i], std::nextafter(scores[i], 2.0F), std::nextafter(scores[i], 0.0F)})
      if (v <= 1) out.push_back(v);
  }
  return out;
}

std::size_t expect_as_for_all(std::size_t features, Activation activation, unsigned seed) {
  const auto logits = any_logits(features, seed);
  const auto scores = all_scores(logits, features, activation);
  std::vector<float> corners;
  for (std::size_t i = 0; i < lazy_boxes; ++i)
    corners.insert(corners.end(), {1, 1, 9, 9});
  const std::vector<Tensor> tensors{tensor_of<float>({1, lazy_boxes, 4}, corners),
                                    tensor_of<float>({1, lazy_boxes, features}, logits)};
  std::size_t found = 0;
  for (const bool multi_label : {false, true}) {
    for (const float threshold : thresholds_of(scores)) {
      const DecodeOptions options{.score_threshold = threshold,
                                  .nms = Nms::none,
                                  .max_detections = 0,
                                  .multi_label = multi_label};
      std::vector<std::tuple<int, int, float>> out;
      for (const Detection& d :
           decode_all(head_of(features, activation), tensors, options).detections)
        out.emplace_back(d.anchor, d.label, d.score);
      std::sort(out.begin(), out.end());
      EXPECT_EQ(out, passing(scores, threshold, multi_label)) << "at " << threshold;
      if (::testing::Test::HasFailure()) return found;
      found += out.size();
    }
  }
  return found;
}

TEST(LazyScores, of_softmax_with_a_background_are_those_of_all_boxes) {
  for (unsigned seed = 0; seed < 2; ++seed)
    EXPECT_GT(expect_as_for_all(lazy_classes + 1, Activation::softmax, seed), 1000U);
}

TEST(LazyScores, of_softmax_without_a_background_are_those_of_all_boxes) {
  EXPECT_GT(expect_as_for_all(lazy_classes, Activation::softmax, 1), 1000U);
}

TEST(LazyScores, of_tanh_are_those_of_all_boxes) {
  for (unsigned seed = 0; seed < 2; ++seed)
    EXPECT_GT(expect_as_for_all(lazy_classes, Activation::tanh, seed), 1000U);
}

}  // namespace
}  // namespace halyard::test
