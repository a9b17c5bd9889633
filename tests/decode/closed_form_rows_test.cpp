// SPDX-License-Identifier: Apache-2.0
// Cases whose outcome follows from the definitions alone: rows of networks that suppress by
// themselves, small heads with masks, what is refused.
#include <gtest/gtest.h>

#include "decode/description/documents.h"
#include "decode/head/heads.h"
#include "decode/tensors.h"
#include "halyard/selection.h"

namespace halyard::test {
namespace {

using enum AxisName;

// Ten rows, of which the first is found: in hundredths, or in steps of 2 / 255.
std::vector<float> ten_rows(std::size_t behind) {
  std::vector<float> out(10 * (6 + behind), 0);
  const float first[] = {0.1234F, 0.1234F, 0.2345F, 0.2345F, 0.9876F, 2};
  std::copy(std::begin(first), std::end(first), out.begin());
  return out;
}

DecodeOptions options_of_rows(float threshold = 0.45F) {
  DecodeOptions options = DecodeOptions::hal();
  options.score_threshold = threshold;
  return options;
}

ModelDescription rows_of(std::size_t features, Size input = {1, 1}) {
  auto out =
      model_of(input, {output_of(OutputRole::detection, {1, 10, features}, BoxUnits::fraction)});
  out.outputs[0].axes = {batch, num_boxes, num_features};
  out.decoder_version = "yolo26";
  return out;
}

TEST(ClosedForm, a_row_of_floats_is_its_box) {
  const auto out =
      decode_all(rows_of(6), {tensor_of<float>({1, 10, 6}, ten_rows(0))}, options_of_rows());
  ASSERT_EQ(out.detections.size(), 1U);
  EXPECT_EQ(out.detections[0], (Detection{{0.1234F, 0.1234F, 0.2345F, 0.2345F}, 0.9876F, 2, 0}));
}

TEST(ClosedForm, a_row_of_bytes_is_its_box) {
  std::vector<std::uint8_t> stored;
  for (const float v : ten_rows(0))
    stored.push_back(static_cast<std::uint8_t>(std::lround(v * 255 / 2)));
  const auto out =
      decode_all(rows_of(6), {quantized_of<std::uint8_t>({1, 10, 6}, stored, 2 / 255.0F, 0)},
                 options_of_rows());
  ASSERT_EQ(out.detections.size(), 1U);
  const Detection& d = out.detections[0];
  EXPECT_NEAR(d.box.x1, 0.12549022, 1e-6);
  EXPECT_NEAR(d.box.y1, 0.12549022, 1e-6);
  EXPECT_NEAR(d.box.x2, 0.23529413, 1e-6);
  EXPECT_NEAR(d.score, 0.98823535, 1e-6);
  EXPECT_EQ(d.label, 2);
}

TEST(ClosedForm, rows_in_three_tensors_and_with_coefficients_are_the_same_box) {
  const auto of = [](OutputRole role, std::size_t features) {
    auto out = output_of(role, {1, 10, features}, BoxUnits::fraction);
    out.axes = {batch, num_boxes, num_features};
    return out;
  };
  const auto values = ten_rows(0);
  std::vector<float> boxes, scores, classes;
  for (std::size_t i = 0; i < 10; ++i) {
    boxes.insert(boxes.end(), values.begin() + static_cast<std::ptrdiff_t>(6 * i),
                 values.begin() + static_cast<std::ptrdiff_t>(6 * i + 4));
    scores.push_back(values[6 * i + 4]);
    classes.push_back(values[6 * i + 5]);
  }
  auto split = model_of(
      {1, 1}, {of(OutputRole::boxes, 4), of(OutputRole::scores, 1), of(OutputRole::classes, 1)});
  split.outputs[0].name = "b", split.outputs[1].name = "s", split.outputs[2].name = "c";
  const auto in_three = decode_all(split,
                                   {named(tensor_of<float>({1, 10, 4}, boxes), "b"),
                                    named(tensor_of<float>({1, 10, 1}, scores), "s"),
                                    named(tensor_of<float>({1, 10, 1}, classes), "c")},
                                   options_of_rows());
  auto masked = rows_of(38);
  masked.outputs.push_back(output_of(OutputRole::prototypes, {1, 16, 16, 32}));
  const auto wide = decode_all(
      masked,
      {tensor_of<float>({1, 10, 38}, ten_rows(32)),
       quantized<std::uint8_t>(filled<std::uint8_t>({1, 16, 16, 32}, 128), 1 / 255.0F, 128)},
      options_of_rows());
  const Detection wanted{{0.1234F, 0.1234F, 0.2345F, 0.2345F}, 0.9876F, 2, 0};
  ASSERT_EQ(in_three.detections.size(), 1U);
  ASSERT_EQ(wide.detections.size(), 1U);
  EXPECT_EQ(in_three.detections[0], wanted);
  EXPECT_EQ(wide.detections[0], wanted);
  EXPECT_EQ(wide.masks.size(), 1U);
}

TEST(ClosedForm, columns_of_pixels_are_two_boxes_or_none) {
  auto description = model_of({640, 640}, {output_of(OutputRole::detection, {6, 2})});
  description.outputs[0].axes = {num_features, num_boxes};
  description.decoder_version = "yolo26";
  const auto found = [&](float first, float second) {
    const std::vector<float> values{10, 20, 10, 20, 50, 60, 50, 60, first, second, 1, 2};
    return decode_all(description, {tensor_of<float>({6, 2}, values)}, options_of_rows(0.5F))
        .detections;
  };
  const auto both = found(0.8F, 0.7F);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0], (Detection{{10, 10, 50, 50}, 0.8F, 1, 0}));
  EXPECT_EQ(both[1], (Detection{{20, 20, 60, 60}, 0.7F, 2, 1}));
  EXPECT_TRUE(found(0.1F, 0.2F).empty());
  description.outputs[0].shape = {5, 2};
  EXPECT_FALSE(Decoder::create(description));
  description.outputs[0].shape = {6, 0};
  EXPECT_FAILS(Decoder::create(description), "shape[1]: 0");
}

TEST(ClosedForm, a_head_of_five_boxes_with_masks_is_the_same_in_f16) {
  auto description = model_of({64, 64}, {output_of(OutputRole::detection, {1, 8, 5},  //
                                                   BoxUnits::fraction),
                                         output_of(OutputRole::prototypes, {1, 16, 16, 2})});
  description.outputs[0].axes = {batch, num_features, num_boxes};
  std::vector<float> values(40, 0);
  for (std::size_t i = 0; i < 5; ++i) {  // values that f16 holds
    values[i] = 0.125F + 0.1875F * static_cast<float>(i), values[5 + i] = 0.5F;
    values[10 + i] = 0.125F, values[15 + i] = 0.25F;
    values[20 + i % 2 * 5 + i] = 0.9375F - 0.0625F * static_cast<float>(i);
    values[30 + i] = static_cast<float>(i) - 2, values[35 + i] = 1;
  }
  std::vector<Half> halves;
  for (const float v : values)
    halves.push_back(to_half(v));
  const Tensor prototypes = filled<float>({1, 16, 16, 2}, 1);
  const auto a = decode_all(description, {tensor_of<float>({1, 8, 5}, values), prototypes},
                            DecodeOptions::hal());
  const auto b = decode_all(description, {tensor_of<Half>({1, 8, 5}, halves), prototypes},
                            DecodeOptions::hal());
  ASSERT_EQ(a.detections.size(), 5U);
  EXPECT_EQ(a.detections, b.detections);
  EXPECT_EQ(a.masks.coefficients, b.masks.coefficients);
}

TEST(ClosedForm, of_50000_candidates_the_best_30000_enter) {
  std::vector<Detection> all;
  for (std::int32_t i = 0; i < 50000; ++i) {
    const float x = 20 * static_cast<float>(i % 500), y = 20 * static_cast<float>(i / 500);
    const auto score = static_cast<float>((i * 7919) % 50000) / 50000;
    all.push_back({{x, y, x + 10, y + 10}, score, 0, i});
  }
  const SelectionOptions options{.top_k = 30000, .nms = Nms::class_agnostic, .max_detections = 0};
  ASSERT_VALUE(const auto kept, non_maximum_suppression(all, options));
  ASSERT_EQ(kept.size(), 30000U);
  EXPECT_FLOAT_EQ(kept.back().score, 0.4F);
}

TEST(ClosedForm, flat_distributions_and_versions_to_come_are_refused) {
  auto boxes = output_of(OutputRole::boxes, {1, 4, 2100});
  boxes.encoding = BoxEncoding::dfl;
  const auto flat =
      Decoder::create(model_of({320, 320}, {boxes, output_of(OutputRole::scores, {1, 7, 2100})}));
  expect_refusal(flat, Errc::unsupported, "dfl");
  expect_refusal(ModelDescription::from_json(R"({"schema_version": 3, "outputs": []})"),
                 Errc::unsupported, "3");
}

}  // namespace
}  // namespace halyard::test
