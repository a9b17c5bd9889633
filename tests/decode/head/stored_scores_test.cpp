// SPDX-License-Identifier: Apache-2.0
// Whatever scores are stored as, the candidates are those of plain loops over their real values:
// types, scales of channels, orders of axes, logits, objectness, one class of a box or all.
#include <gtest/gtest.h>

#include <cmath>

#include "decode/head/box_coding.h"
#include "decode/nms/selector.h"
#include "heads.h"
#include "scan_values.h"

namespace halyard {
namespace {

using Shape = std::vector<std::size_t>;
constexpr std::size_t stored_boxes = 150;
constexpr std::size_t stored_classes = 21;

struct StoredCase {
  DType dtype = DType::f32;
  bool per_channel = false;
  bool boxes_first = false;
  bool logits = false;
  bool objectness = false;
  bool multi_label = false;
  float threshold = 0;
};

struct StoredHead {
  Tensor tensor;
  std::vector<float> real;  // [features, boxes]
};

template <class T>
StoredHead head_of(const StoredCase& c, std::mt19937& random) {
  const std::size_t features = 4 + (c.objectness ? 1 : 0) + stored_classes;
  std::normal_distribution<float> normal(c.logits ? -2.0F : 0.2F, c.logits ? 2.0F : 0.2F);
  Quantization quantization{{}, {}, c.boxes_first ? 2U : 1U};
  for (std::size_t f = 0; f < features; ++f) {
    quantization.scale.push_back((c.logits ? 0.05F : 0.005F) + 0.0003F * static_cast<float>(f % 7));
    quantization.zero_point.push_back(static_cast<std::int32_t>(f % 5));
  }
  if (!c.per_channel) quantization = Quantization::per_tensor(c.logits ? 0.05F : 0.005F, 3);
  std::vector<T> stored(features * stored_boxes);
  StoredHead out;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::size_t f = i / stored_boxes;
    const float value = f < 4 ? 0.25F : normal(random);
    if constexpr (std::is_integral_v<T>) {
      const float scale = quantization.scale_at(f);
      const auto zero = static_cast<float>(quantization.zero_point_at(f));
      const float q = std::clamp(std::nearbyint(value / scale + zero), 0.0F, 127.0F);
      stored[i] = static_cast<T>(q);
      out.real.push_back((q - zero) * scale);
    } else if constexpr (std::is_same_v<T, Half>) {
      stored[i] = random() % 50 == 0 && f >= 4 ? Half{0x7E00} : test::to_half(value);
      out.real.push_back(to_float(stored[i]));
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      stored[i] = random() % 50 == 0 && f >= 4 ? BFloat16{0xFFC0} : test::to_bfloat(value);
      out.real.push_back(to_float(stored[i]));
    } else {
      stored[i] = value;
      out.real.push_back(value);
    }
  }
  if (c.boxes_first) {
    out.tensor = test::tensor_of<T>({1, stored_boxes, features},
                                    test::transposed(stored, features, stored_boxes));
  } else {
    out.tensor = test::tensor_of<T>({1, features, stored_boxes}, stored);
  }
  if constexpr (std::is_integral_v<T>) {
    EXPECT_TRUE(out.tensor.set_quantization(quantization));
  }
  return out;
}

// Score, class, box: best score first, then as they come.
std::vector<Detection> expected_of(const StoredCase& c, const std::vector<float>& real) {
  const auto score_of = [&](std::size_t f, std::size_t box) {
    const float value = real[f * stored_boxes + box];
    return c.logits ? decode::sigmoid(value) : value;
  };
  const std::size_t first = c.objectness ? 5 : 4;
  std::vector<Detection> out;
  for (std::size_t box = 0; box < stored_boxes; ++box) {
    const float factor = c.objectness ? score_of(4, box) : 1;
    if (!(factor >= c.threshold)) continue;
    bool has_one = false;
    for (std::size_t label = 0; label < stored_classes; ++label) {
      const float score = score_of(first + label, box) * factor;
      if (!(score >= c.threshold)) continue;
      const Detection found{
          {}, score, static_cast<std::int32_t>(label), static_cast<std::int32_t>(box)};
      if (c.multi_label || !has_one) {
        out.push_back(found);
      } else if (score > out.back().score) {
        out.back() = found;
      }
      has_one = true;
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Detection& a, const Detection& b) { return a.score > b.score; });
  return out;
}

template <class T>
std::size_t check(const StoredCase& c, std::mt19937& random) {
  const StoredHead head = head_of<T>(c, random);
  const auto shape = head.tensor.shape();
  ModelDescription description = test::model_of(
      {64, 64}, {test::output_of(OutputRole::detection, {shape.begin(), shape.end()})});
  if (c.objectness) description.decoder_version = "yolov5";
  description.outputs[0].activation = c.logits ? Activation::sigmoid : Activation::none;
  const DecodeOptions options{.score_threshold = c.threshold,
                              .nms = Nms::none,
                              .max_detections = 0,
                              .multi_label = c.multi_label};
  const auto found = test::decode_all(description, {head.tensor}, options).detections;
  const auto expected = expected_of(c, head.real);
  EXPECT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    EXPECT_EQ(found[i].score, expected[i].score);
    EXPECT_EQ(found[i].label, expected[i].label);
    EXPECT_EQ(found[i].anchor, expected[i].anchor);
  }
  return expected.size();
}

template <class T>
void check_all() {
  std::mt19937 random(11);
  std::size_t candidates = 0;
  for (unsigned bits = 0; bits < 32; ++bits) {
    for (const float threshold : {0.0F, 0.001F, 0.25F, 0.7F}) {
      const StoredCase c{*dtype_of<T>,    (bits & 1) != 0,  (bits & 2) != 0, (bits & 4) != 0,
                         (bits & 8) != 0, (bits & 16) != 0, threshold};
      if (c.per_channel && !std::is_integral_v<T>) continue;
      SCOPED_TRACE(::testing::Message()
                   << to_string(c.dtype) << " case " << bits << " at " << threshold);
      candidates += check<T>(c, random);
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(candidates, 1000U);
}

TEST(StoredScores, give_the_candidates_of_plain_loops_over_real_values) {
  check_all<float>();
  check_all<Half>();
  check_all<BFloat16>();
  check_all<std::int8_t>();
  check_all<std::uint8_t>();
  check_all<std::int16_t>();
  check_all<std::uint16_t>();
}

TEST(StoredScores, of_minus_infinity_pass_a_threshold_of_zero_whatever_they_are_stored_as) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  auto description = test::model_of(
      {64, 64}, {test::output_of(OutputRole::detection, {1, 4 + stored_classes, stored_boxes})});
  description.outputs[0].activation = Activation::sigmoid;
  std::vector<float> real((4 + stored_classes) * stored_boxes, -infinity);
  std::fill_n(real.begin(), 4 * stored_boxes, 0.25F);
  const DecodeOptions options{.score_threshold = 0, .nms = Nms::none};
  const auto count = [&](const Tensor& tensor) {
    return test::decode_all(description, {tensor}, options).detections.size();
  };
  EXPECT_EQ(count(test::tensor_of<float>({1, 4 + stored_classes, stored_boxes}, real)),
            stored_boxes);
  std::vector<Half> halves;
  for (const float value : real)
    halves.push_back(test::to_half(value));
  EXPECT_EQ(count(test::tensor_of<Half>({1, 4 + stored_classes, stored_boxes}, halves)),
            stored_boxes);
}

// The class and score of the one box of a head of two classes, stored as i8.
std::pair<std::int32_t, float> best_of(std::vector<std::int8_t> scores, Quantization quantization,
                                       Activation activation) {
  auto description = test::model_of({64, 64}, {test::output_of(OutputRole::boxes, {1, 4, 1}),
                                               test::output_of(OutputRole::scores, {1, 2, 1})});
  description.outputs[1].activation = activation;
  Tensor stored = test::tensor_of<std::int8_t>({1, 2, 1}, scores);
  EXPECT_TRUE(stored.set_quantization(std::move(quantization)));
  const Tensor box = test::tensor_of<float>({1, 4, 1}, {9, 9, 4, 4});
  const auto found = test::decode_all(description, {box, stored}).detections;
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? std::pair(-1, 0.0F) : std::pair(found[0].label, found[0].score);
}

// Logits of 25 and 50 have the score of 1 both; as f32 the greater logit gives the class.
TEST(StoredScores, of_classes_with_scales_of_their_own_are_told_apart_before_the_activation) {
  EXPECT_EQ(best_of({25, 25}, {{1, 2}, {0, 0}, 1}, Activation::sigmoid), std::pair(1, 1.0F));
  EXPECT_EQ(best_of({25, 25}, {{2, 1}, {0, 0}, 1}, Activation::sigmoid), std::pair(0, 1.0F));
}

// Both values are infinite as f32, where the first class wins.
TEST(StoredScores, beyond_the_range_of_floats_are_equal_whatever_they_are_stored_as) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(best_of({100, 120}, Quantization::per_tensor(3e37F), Activation::none),
            std::pair(0, infinity));
}

}  // namespace
}  // namespace halyard
