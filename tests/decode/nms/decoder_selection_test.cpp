// SPDX-License-Identifier: Apache-2.0
// Options of selection through the decoder.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "decode/tensors.h"
#include "halyard/decode.h"
#include "support/result.h"

namespace halyard::test {
namespace {

constexpr std::size_t anchors = 200;
constexpr std::size_t selected_classes = 3;

Result<Decoder> decoder_with(const DecodeOptions& options) {
  const TensorSpec spec{"", DType::f32, {1, 4 + selected_classes, anchors}, {}, {}};
  return Decoder::for_outputs({&spec, 1}, {640, 640}, options, BoxUnits::fraction);
}

// Stored values of [1, 4 + classes, anchors].
std::vector<std::int8_t> stored_head() {
  std::mt19937 random(2);
  std::vector<std::int8_t> out((4 + selected_classes) * anchors);
  for (auto& value : out)
    value = static_cast<std::int8_t>(static_cast<int>(random() % 256) - 128);
  return out;
}

TEST(DecoderSelection, refuses_options_by_name) {
  for (const std::vector<float>& wrong :
       std::vector<std::vector<float>>{{0.1F, 0.2F}, {0.1F, 0.2F, 1.5F}, {0.1F, 0.2F, NAN}})
    EXPECT_FAILS(decoder_with({.class_thresholds = wrong}), "class_thresholds");
  EXPECT_FAILS(decoder_with({.soft_sigma = 0}), "soft_sigma");
  EXPECT_FAILS(decoder_with({.soft_floor = 2}), "soft_floor");
}

TEST(DecoderSelection, thresholds_of_classes_decide_on_stored_values_as_on_real_ones) {
  const auto stored = stored_head();
  const float scale = 1 / 255.0F;
  std::vector<float> real;
  for (const std::int8_t value : stored)
    real.push_back((static_cast<float>(value) + 128) * scale);
  DecodeOptions options;
  options.nms = Nms::none;
  options.max_detections = 0;
  options.class_thresholds = {0.9F, 200 * scale, 0};  // one on a stored value
  const auto decoder = *decoder_with(options);
  const Tensor floats = tensor_of({1, 4 + selected_classes, anchors}, real);
  const Tensor integers = quantized_of({1, 4 + selected_classes, anchors}, stored, scale, -128);
  const auto from_floats = *decoder.decode({&floats, 1});
  EXPECT_EQ(from_floats, *decoder.decode({&integers, 1}));

  std::size_t expected = 0;
  for (std::size_t a = 0; a < anchors; ++a) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < selected_classes; ++c) {
      if (real[(4 + c) * anchors + a] > real[(4 + best) * anchors + a]) best = c;
    }
    expected += real[(4 + best) * anchors + a] >= options.class_thresholds[best] ? 1 : 0;
  }
  EXPECT_EQ(from_floats.size(), expected);
  EXPECT_LT(expected, anchors);
}

TEST(DecoderSelection, soft_suppression_changes_scores_and_explain_names_it) {
  const DecodeOptions options{
      .score_threshold = 0, .suppression = Suppression::soft_gaussian, .overlap = Overlap::diou};
  std::vector<float> values((4 + selected_classes) * anchors, 0);
  for (std::size_t a = 0; a < 2; ++a) {
    for (std::size_t f = 0; f < 4; ++f)
      values[f * anchors + a] = 0.5F;
    values[4 * anchors + a] = 0.8F;
  }
  const Tensor tensor = tensor_of({1, 4 + selected_classes, anchors}, values);
  const auto decoder = *decoder_with(options);
  const auto found = *decoder.decode({&tensor, 1});
  ASSERT_GE(found.size(), 2U);
  EXPECT_EQ(found[0].score, 0.8F);
  EXPECT_NEAR(found[1].score, 0.8 * std::exp(-2), 1e-6);
  EXPECT_NE(decoder.explain().find("soft_gaussian, DIoU"), std::string::npos);
}

}  // namespace
}  // namespace halyard::test
