// SPDX-License-Identifier: Apache-2.0
// Cases whose outcome follows from the definitions alone. Those that other tests show are in
// known_cases_test.cpp's list.
#include <gtest/gtest.h>

#include <cmath>

#include "decode/description/documents.h"
#include "decode/head/box_coding.h"
#include "decode/head/dfl.h"
#include "decode/head/heads.h"
#include "decode/head/threshold.h"
#include "decode/tensors.h"
#include "halyard/decode.h"

namespace halyard::test {
namespace {

using decode::box_of_bins;
using decode::box_of_centre;
using decode::box_of_distances;
using decode::dequantize;
using decode::distances_of_bins;
using decode::sigmoid;
using decode::softmax;

void expect_box(const Box& box, const Box& wanted, float tolerance = 1e-6F) {
  EXPECT_NEAR(box.x1, wanted.x1, tolerance);
  EXPECT_NEAR(box.y1, wanted.y1, tolerance);
  EXPECT_NEAR(box.x2, wanted.x2, tolerance);
  EXPECT_NEAR(box.y2, wanted.y2, tolerance);
}

// ---- numbers ---------------------------------------------------------------------------------

TEST(ClosedForm, stored_integers_have_their_real_values) {
  const auto expect = [](decode::Dequantization affine, std::vector<float> raw,
                         std::vector<float> real) {
    for (std::size_t i = 0; i < raw.size(); ++i)
      EXPECT_NEAR(dequantize(raw[i], affine), real[i], 2e-6F) << raw[i];
  };
  expect({0.1F, -128}, {0, 127, -128, 64}, {12.8F, 25.5F, 0, 19.2F});
  expect({0.130F, 70}, {0, 70, 255}, {-9.1F, 0, 24.05F});
  expect({0.1F, -10}, {-10, 0, 10, 127}, {0, 1, 2, 13.7F});
  expect({0.5F, 0}, {255}, {127.5F});
  expect({0.1F, -128}, {100}, {22.8F});
}

TEST(ClosedForm, a_centre_and_an_extent_make_corners) {
  const float b[4] = {10, 20, 20, 20};
  EXPECT_EQ(box_of_centre(b, 1, 1), (Box{0, 10, 20, 30}));
}

TEST(ClosedForm, centres_of_a_grid_of_two_by_two_lie_at_halves) {
  const float zero[4] = {0, 0, 0, 0};
  for (const std::size_t row : {0U, 1U}) {
    for (const std::size_t column : {0U, 1U}) {
      const float x = 0.5F + static_cast<float>(column), y = 0.5F + static_cast<float>(row);
      EXPECT_EQ(box_of_distances(zero, {column, row, 1, 1}), (Box{x, y, x, y}));
    }
  }
}

TEST(ClosedForm, softmax_of_equal_dominant_and_large_logits) {
  std::vector<float> equal(8, 3), dominant(8, 0), large{1000, 1001, 1002};
  dominant[5] = 100;
  softmax(equal);
  softmax(dominant);
  softmax(large);
  for (const float p : equal)
    EXPECT_FLOAT_EQ(p, 0.125F);
  EXPECT_NEAR(dominant[5], 1, 1e-6);
  EXPECT_NEAR(large[0] + large[1] + large[2], 1, 1e-6);
  EXPECT_LT(large[0], large[1]);
  EXPECT_LT(large[1], large[2]);
}

TEST(ClosedForm, sigmoid_is_the_logistic_function) {
  EXPECT_EQ(sigmoid(0), 0.5F);
  for (int i = -8000; i <= 8000; ++i) {
    const float x = static_cast<float>(i) / 100;
    EXPECT_NEAR(sigmoid(x), 1 / (1 + std::exp(-static_cast<double>(x))), 1e-6) << x;
  }
}

TEST(ClosedForm, distributions_have_their_mean_bin) {
  const auto mean = [](std::size_t bins, std::size_t hot) {
    std::vector<float> logits(4 * bins, 0);
    for (std::size_t side = 0; hot < bins && side < 4; ++side)
      logits[side * bins + hot] = 1000;
    const auto out = distances_of_bins(logits);
    EXPECT_EQ(out[0], out[3]);
    return out[0];
  };
  EXPECT_FLOAT_EQ(mean(4, 99), 1.5F);
  EXPECT_FLOAT_EQ(mean(16, 5), 5);
  EXPECT_FLOAT_EQ(mean(16, 99), 7.5F);
}

TEST(ClosedForm, distances_reach_from_the_centre_of_the_cell) {
  const float zero[4] = {0, 0, 0, 0}, two[4] = {2, 2, 2, 2}, uneven[4] = {1, 0, 3, 0};
  EXPECT_EQ(box_of_distances(zero, {0, 0, 8, 8}), (Box{4, 4, 4, 4}));
  EXPECT_EQ(box_of_distances(two, {0, 0, 8, 8}).width(), 32);
  EXPECT_EQ(box_of_distances(two, {0, 0, 8, 8}).height(), 32);
  const Box box = box_of_distances(uneven, {0, 0, 1, 1});
  EXPECT_EQ((box.x1 + box.x2) / 2, 0.5F + 1);  // 1 beside the point
  EXPECT_EQ(box.width(), 4);
}

TEST(ClosedForm, a_certain_bin_5_of_stride_8_is_80_wide_about_4) {
  std::vector<float> bins(64, 0);
  for (std::size_t side = 0; side < 4; ++side)
    bins[side * 16 + 5] = 1000;
  EXPECT_EQ(box_of_bins(bins, {0, 0, 8, 8}), (Box{-36, -36, 44, 44}));
}

// ---- levels ----------------------------------------------------------------------------------

// One level of a grid, boxes and scores; scores are probabilities.
ModelDescription level(Size input, std::uint32_t stride, std::size_t features, std::size_t classes,
                       BoxEncoding encoding) {
  const auto cells = [stride](std::int32_t side) {
    return static_cast<std::size_t>(side) / stride;
  };
  const std::size_t rows = cells(input.height), columns = cells(input.width);
  auto boxes = output_of(OutputRole::boxes, {1, 4, rows * columns});
  boxes.encoding = encoding;
  boxes.parts = {output_of(OutputRole::boxes, {1, rows, columns, features})};
  auto scores = output_of(OutputRole::scores, {1, classes, rows * columns});
  scores.parts = {output_of(OutputRole::scores, {1, rows, columns, classes})};
  for (OutputDescription* whole : {&boxes, &scores}) {
    whole->parts[0].name = to_string(whole->role);
    whole->parts[0].stride = Stride{stride, stride};
    whole->parts[0].box_units = {};
    using enum AxisName;
    whole->parts[0].axes = {batch, height, width, num_features};
  }
  scores.box_units = {};
  return model_of(input, {boxes, scores});
}

DecodeOptions all_boxes() {
  DecodeOptions options = DecodeOptions::hal();
  options.nms = Nms::none;
  return options;
}

TEST(ClosedForm, distances_1_1_3_3_of_stride_8_are_a_box_about_12) {
  const auto out = decode_all(level({8, 8}, 8, 4, 2, BoxEncoding::direct),
                              {named(tensor_of<float>({1, 1, 1, 4}, {1, 1, 3, 3}), "boxes"),
                               named(tensor_of<float>({1, 1, 1, 2}, {0.1F, 0.9F}), "scores")},
                              all_boxes());
  ASSERT_EQ(out.detections.size(), 1U);
  EXPECT_EQ(out.detections[0].box,
            (Box{-4, -4, 28, 28}));  // of an input of 8: -0.5, -0.5, 3.5, 3.5
  EXPECT_EQ(out.detections[0].label, 1);
}

TEST(ClosedForm, cells_of_uniform_distributions_count_columns_then_rows) {
  const auto out = decode_all(level({8, 8}, 4, 16, 1, BoxEncoding::dfl),
                              {named(filled<float>({1, 2, 2, 16}), "boxes"),
                               named(filled<float>({1, 2, 2, 1}, 0.9F), "scores")},
                              all_boxes());
  ASSERT_EQ(out.detections.size(), 4U);
  EXPECT_EQ(out.detections[0].box, (Box{-4, -4, 8, 8}));  // about (2, 2), 12 wide
  EXPECT_EQ(out.detections[1].box, (Box{0, -4, 12, 8}));  // about (6, 2)
  EXPECT_EQ(out.detections[2].box, (Box{-4, 0, 8, 12}));  // about (2, 6)
}

TEST(ClosedForm, stored_distributions_of_zeros_reach_7_and_a_half_bins) {
  auto zeros = quantized<std::int8_t>(filled<std::int8_t>({1, 2, 2, 64}), 0.1F, 0);
  const auto out = decode_all(
      level({16, 16}, 8, 64, 1, BoxEncoding::dfl),
      {named(zeros, "boxes"), named(filled<float>({1, 2, 2, 1}, 0.9F), "scores")}, all_boxes());
  ASSERT_EQ(out.detections.size(), 4U);
  EXPECT_EQ(out.detections[3].box, (Box{12 - 60, 12 - 60, 12 + 60, 12 + 60}));
}

TEST(ClosedForm, distributions_with_a_scale_for_each_channel_use_each) {
  std::vector<std::int8_t> stored;
  Quantization own{{}, {}, 3};
  for (int c = 0; c < 16; ++c) {
    stored.push_back(static_cast<std::int8_t>(c));
    own.scale.push_back(0.01F * static_cast<float>(c + 1));
  }
  const auto decoded = [&](const Quantization& q) {
    Tensor boxes = tensor_of<std::int8_t>({1, 1, 1, 16}, stored);
    EXPECT_TRUE(boxes.set_quantization(q));
    const auto out =
        decode_all(level({8, 8}, 8, 16, 1, BoxEncoding::dfl),
                   {named(boxes, "boxes"), named(tensor_of<float>({1, 1, 1, 1}, {0.9F}), "scores")},
                   all_boxes());
    return out.detections.at(0).box;
  };
  double reach[4];
  for (int side = 0; side < 4; ++side) {
    double sum = 0, weighed = 0;
    for (int bin = 0; bin < 4; ++bin) {
      const int c = 4 * side + bin;
      const double e = std::exp(c * 0.01 * (c + 1));
      sum += e, weighed += bin * e;
    }
    reach[side] = 8 * weighed / sum;
  }
  const Box box = decoded(own);
  EXPECT_NEAR(box.x1, 4 - reach[0], 1e-4);
  EXPECT_NEAR(box.y1, 4 - reach[1], 1e-4);
  EXPECT_NEAR(box.x2, 4 + reach[2], 1e-4);
  EXPECT_NEAR(box.y2, 4 + reach[3], 1e-4);
  EXPECT_GT(std::abs(decoded(Quantization::per_tensor(0.01F)).y2 - box.y2), 0.5F);
}

// ---- boxes in tensors of their own -------------------------------------------------------------

TEST(ClosedForm, centres_and_extents_in_thousandths_are_a_box) {
  auto whole = output_of(OutputRole::boxes, {1, 4, 1}, BoxUnits::fraction);
  whole.parts = {output_of(OutputRole::boxes_xy, {1, 2, 1}),
                 output_of(OutputRole::boxes_wh, {1, 2, 1})};
  whole.parts[0].name = "xy", whole.parts[1].name = "wh";
  using enum AxisName;
  for (OutputDescription& part : whole.parts)
    part.axes = {batch, num_features, num_boxes}, part.box_units = {};
  auto scores = output_of(OutputRole::scores, {1, 2, 1});
  scores.axes = {batch, num_classes, num_boxes};
  const auto stored = [](std::vector<std::int16_t> v) {
    return quantized_of<std::int16_t>({1, 2, 1}, v, 1e-3F, 0);
  };
  const auto out = decode_all(
      model_of({100, 100}, {whole, scores}),
      {named(stored({400, 400}), "xy"), named(stored({200, 200}), "wh"), stored({900, 100})},
      all_boxes());
  ASSERT_EQ(out.detections.size(), 1U);
  expect_box(out.detections[0].box, {30, 30, 50, 50}, 1e-4F);
}

// As networks of some processors leave them: each tensor has its own type and scale, a coordinate
// axis of two, and padding last. Boxes are the fourth of five.
TEST(ClosedForm, quantized_centres_and_extents_with_scores_of_another_type_are_a_box) {
  ASSERT_VALUE(const auto document, ModelDescription::from_json(R"({
    "schema_version": 2, "input": {"shape": [1, 3, 100, 200]}, "outputs": [
    {"type": "boxes", "encoding": "direct", "normalized": true, "shape": [1, 4, 5, 1],
     "dshape": [{"batch": 1}, {"box_coords": 4}, {"num_boxes": 5}, {"padding": 1}], "outputs": [
      {"name": "xy", "type": "boxes_xy", "shape": [1, 2, 5, 1], "dtype": "int8",
       "dshape": [{"batch": 1}, {"box_coords": 2}, {"num_boxes": 5}, {"padding": 1}],
       "quantization": {"scale": 0.01, "zero_point": 10, "dtype": "int8"}},
      {"name": "wh", "type": "boxes_wh", "shape": [1, 2, 5, 1], "dtype": "int8",
       "dshape": [{"batch": 1}, {"box_coords": 2}, {"num_boxes": 5}, {"padding": 1}],
       "quantization": {"scale": 0.005, "zero_point": -20, "dtype": "int8"}}]},
    {"type": "scores", "shape": [1, 3, 5, 1],
     "dshape": [{"batch": 1}, {"num_classes": 3}, {"num_boxes": 5}, {"padding": 1}], "outputs": [
      {"name": "scores", "type": "scores", "shape": [1, 3, 5, 1], "dtype": "uint8",
       "dshape": [{"batch": 1}, {"num_classes": 3}, {"num_boxes": 5}, {"padding": 1}],
       "quantization": {"scale": 0.00392156862745098, "zero_point": 0, "dtype": "uint8"}}]}]})"));
  std::vector<std::int8_t> xy(10), wh(10);
  std::vector<std::uint8_t> scores(15);
  xy[3] = 50, xy[5 + 3] = 60;  // 0.4, 0.5
  wh[3] = 20, wh[5 + 3] = 0;   // 0.2, 0.1
  scores[5 + 3] = 255;         // class 1
  const std::vector<Tensor> tensors{tensor_of<std::int8_t>({1, 2, 5, 1}, xy),
                                    tensor_of<std::int8_t>({1, 2, 5, 1}, wh),
                                    tensor_of<std::uint8_t>({1, 3, 5, 1}, scores)};
  const auto out = decode_all(document, tensors, {.score_threshold = 0.5F});
  ASSERT_EQ(out.detections.size(), 1U);
  expect_box(out.detections[0].box, {60, 45, 100, 55}, 1e-3F);
  EXPECT_EQ(out.detections[0].label, 1);
  EXPECT_FLOAT_EQ(out.detections[0].score, 1);
}

TEST(ClosedForm, an_axis_of_padding_is_passed_over) {
  auto boxes = output_of(OutputRole::boxes, {1, 2, 1, 4}, BoxUnits::fraction);
  boxes.family = Family::modelpack;
  auto scores = output_of(OutputRole::scores, {1, 2, 1});
  scores.family = Family::modelpack;
  using enum AxisName;
  boxes.axes = {batch, num_boxes, padding, box_coords};
  scores.axes = {batch, num_boxes, num_classes};
  const auto out = decode_all(model_of({100, 100}, {boxes, scores}),
                              {tensor_of<float>({1, 2, 1, 4}, {0.3F, 0.4F, 0.5F, 0.6F, 0, 0, 1, 1}),
                               tensor_of<float>({1, 2, 1}, {0.9F, 0.1F})},
                              all_boxes());
  ASSERT_EQ(out.detections.size(), 1U);
  expect_box(out.detections[0].box, {30, 40, 50, 60}, 1e-4F);
}

TEST(ClosedForm, boxes_do_not_depend_on_masks_and_keep_their_own_place) {
  // Off the grid of the prototypes.
  auto plain = model_of({640, 640}, {output_of(OutputRole::detection, {1, 6, 5})});
  auto masked = model_of({640, 640}, {output_of(OutputRole::detection, {1, 8, 5}),
                                      output_of(OutputRole::prototypes, {1, 160, 160, 2})});
  std::vector<float> values(8 * 5, 0.5F);
  for (std::size_t i = 0; i < 5; ++i) {
    values[i] = 100.3F + 97.7F * static_cast<float>(i), values[5 + i] = 333.1F;
    values[10 + i] = 61.7F, values[15 + i] = 77.3F;
    values[20 + i] = 0.9F - 0.01F * static_cast<float>(i), values[25 + i] = 0.1F;
  }
  const std::vector<float> front(values.begin(), values.begin() + 30);
  plain.outputs[0].axes = {AxisName::batch, AxisName::num_features, AxisName::num_boxes};
  masked.outputs[0].axes = plain.outputs[0].axes;
  const auto a = decode_all(plain, {tensor_of<float>({1, 6, 5}, front)}, DecodeOptions::hal());
  const std::vector<Tensor> tensors{tensor_of<float>({1, 8, 5}, values),
                                    filled<float>({1, 160, 160, 2}, 1)};
  const auto b = decode_all(masked, tensors, DecodeOptions::hal());
  ASSERT_EQ(a.detections.size(), 5U);
  EXPECT_EQ(a.detections, b.detections);
  EXPECT_FLOAT_EQ(b.detections[0].box.x1, 100.3F - 61.7F / 2);
}

TEST(ClosedForm, pixels_taken_for_fractions_make_no_masks) {
  auto description = model_of({640, 640}, {output_of(OutputRole::detection, {1, 7, 5}),
                                           output_of(OutputRole::prototypes, {1, 160, 160, 2})});
  description.outputs[0].axes = {AxisName::batch, AxisName::num_features, AxisName::num_boxes};
  std::vector<float> values(7 * 5, 0.9F);
  for (std::size_t i = 0; i < 5; ++i) {
    values[i] = 60 + 120 * static_cast<float>(i), values[5 + i] = 320;
    values[10 + i] = values[15 + i] = 100;
  }
  const std::vector<Tensor> tensors{tensor_of<float>({1, 7, 5}, values),
                                    filled<float>({1, 160, 160, 2}, 1)};
  const auto right = decode_all(description, tensors, DecodeOptions::hal());
  ASSERT_EQ(right.detections.size(), 5U);
  for (const Detection& d : right.detections) {
    EXPECT_EQ(d.score, 0.9F);
    EXPECT_LE(d.box.x2, 640);
  }
  MaskSet masks;
  EXPECT_TRUE(materialize(right.masks, right.detections, {}, masks));
  description.outputs[0].box_units = BoxUnits::fraction;
  const auto wrong = decode_all(description, tensors, DecodeOptions::hal());
  EXPECT_FALSE(materialize(wrong.masks, wrong.detections, {}, masks));
}

}  // namespace
}  // namespace halyard::test
