// SPDX-License-Identifier: Apache-2.0
// The same boxes in every layout that heads come in; and closed forms of the box codings.
#include <gtest/gtest.h>

#include <cmath>

#include "decode/head/heads.h"
#include "decode/tensors.h"
#include "halyard/decode.h"

namespace halyard::test {
namespace {

using Shape = std::vector<std::size_t>;

constexpr std::size_t grid_classes = 5;
constexpr std::size_t grid_boxes = 210;
constexpr Size grid_input{64, 96};

// [4 + classes, boxes], rows as they lie.
std::vector<float> rows_of(const std::vector<float>& head, std::size_t first, std::size_t count) {
  const auto from = head.begin() + static_cast<std::ptrdiff_t>(first * grid_boxes);
  return {from, from + static_cast<std::ptrdiff_t>(count * grid_boxes)};
}

OutputDescription output(OutputRole role, Shape shape) {
  return output_of(role, std::move(shape), BoxUnits::fraction);
}

ModelDescription model(std::vector<OutputDescription> outputs) {
  return model_of(grid_input, std::move(outputs));
}

std::vector<Detection> decoded(const ModelDescription& description,
                               const std::vector<Tensor>& tensors) {
  return decode_all(description, tensors).detections;
}

class Layouts : public ::testing::Test {
 protected:
  const std::vector<float> head_ = random_head(grid_classes, grid_boxes, 7);
  const std::vector<Detection> expected_ =
      decoded(model({output(OutputRole::detection, {1, 4 + grid_classes, grid_boxes})}),
              {tensor_of<float>({1, 4 + grid_classes, grid_boxes}, head_)});
};

TEST_F(Layouts, find_something_to_compare) {
  EXPECT_GE(expected_.size(), 5U);
}

TEST_F(Layouts, of_boxes_and_scores_in_tensors_of_their_own_agree) {
  const auto b = rows_of(head_, 0, 4);
  const auto s = rows_of(head_, 4, grid_classes);
  EXPECT_EQ(decoded(model({output(OutputRole::boxes, {1, 4, grid_boxes}),
                           output(OutputRole::scores, {1, grid_classes, grid_boxes})}),
                    {tensor_of<float>({1, 4, grid_boxes}, b),
                     tensor_of<float>({1, grid_classes, grid_boxes}, s)}),
            expected_);
  EXPECT_EQ(decoded(model({output(OutputRole::scores, {1, grid_boxes, grid_classes}),
                           output(OutputRole::boxes, {grid_boxes, 4})}),
                    {tensor_of<float>({1, grid_boxes, grid_classes},
                                      transposed(s, grid_classes, grid_boxes)),
                     tensor_of<float>({grid_boxes, 4}, transposed(b, 4, grid_boxes))}),
            expected_);
}

TEST_F(Layouts, of_centres_and_extents_in_two_tensors_agree) {
  auto split = output(OutputRole::boxes, {1, 4, grid_boxes});
  split.parts = {output(OutputRole::boxes_xy, {1, 2, grid_boxes, 1}),
                 output(OutputRole::boxes_wh, {1, 2, grid_boxes, 1})};
  split.parts[0].name = "xy";
  split.parts[1].name = "wh";
  EXPECT_EQ(
      decoded(model({split, output(OutputRole::scores, {1, grid_classes, grid_boxes})}),
              {tensor_of<float>({1, 2, grid_boxes, 1}, rows_of(head_, 0, 2)),
               tensor_of<float>({1, 2, grid_boxes, 1}, rows_of(head_, 2, 2)),
               tensor_of<float>({1, grid_classes, grid_boxes}, rows_of(head_, 4, grid_classes))}),
      expected_);
}

TEST_F(Layouts, of_any_batch_element_and_without_a_batch_axis_agree) {
  std::vector<float> two(head_.size(), 0.0F);
  two.insert(two.end(), head_.begin(), head_.end());
  const auto decoder =
      *Decoder::create(model({output(OutputRole::detection, {1, 4 + grid_classes, grid_boxes})}));
  const Tensor batch = tensor_of<float>({2, 4 + grid_classes, grid_boxes}, two);
  EXPECT_TRUE(decoder.decode({&batch, 1}, 0)->empty());
  EXPECT_EQ(*decoder.decode({&batch, 1}, 1), expected_);
  const Tensor bare = tensor_of<float>({4 + grid_classes, grid_boxes}, head_);
  EXPECT_EQ(*decoder.decode({&bare, 1}), expected_);
}

TEST_F(Layouts, with_objectness_of_one_agree_and_of_less_multiply) {
  auto values = rows_of(head_, 0, 4);
  values.insert(values.end(), grid_boxes, 1.0F);
  const auto s = rows_of(head_, 4, grid_classes);
  values.insert(values.end(), s.begin(), s.end());
  auto description = model({output(OutputRole::detection, {1, 5 + grid_classes, grid_boxes})});
  description.decoder_version = "yolov5";
  EXPECT_EQ(decoded(description, {tensor_of<float>({1, 5 + grid_classes, grid_boxes}, values)}),
            expected_);
  for (std::size_t i = 0; i < grid_boxes; ++i)
    values[4 * grid_boxes + i] = 0.5F;
  const auto halved =
      decoded(description, {tensor_of<float>({1, 5 + grid_classes, grid_boxes}, values)});
  ASSERT_FALSE(halved.empty());
  EXPECT_FLOAT_EQ(halved[0].score, expected_[0].score * 0.5F);
  EXPECT_LT(halved.size(), expected_.size());
}

TEST_F(Layouts, of_bfloat16_and_channel_quantization_are_read) {
  std::vector<BFloat16> bits;
  for (const float v : head_)
    bits.push_back({static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(v) >> 16)});
  const auto description =
      model({output(OutputRole::detection, {1, 4 + grid_classes, grid_boxes})});
  const auto found =
      decoded(description, {tensor_of<BFloat16>({1, 4 + grid_classes, grid_boxes}, bits)});
  ASSERT_FALSE(found.empty());
  EXPECT_NEAR(found[0].score, expected_[0].score, 0.01);
  // Each feature with a scale of its own; half of the last bit at most.
  std::vector<std::uint8_t> stored;
  Quantization quantization{{}, {}, 1};
  for (std::size_t f = 0; f < 4 + grid_classes; ++f) {
    quantization.scale.push_back(0.004F + 0.0001F * static_cast<float>(f));
    for (std::size_t i = 0; i < grid_boxes; ++i)
      stored.push_back(static_cast<std::uint8_t>(
          std::lround(head_[f * grid_boxes + i] / quantization.scale.back())));
  }
  Tensor channels = tensor_of<std::uint8_t>({1, 4 + grid_classes, grid_boxes}, stored);
  ASSERT_TRUE(channels.set_quantization(quantization));
  const auto close = decoded(description, {channels});
  ASSERT_FALSE(close.empty());
  EXPECT_NEAR(close[0].score, expected_[0].score, 0.003);
}

// ---- levels --------------------------------------------------------------------------------

OutputDescription part(OutputRole role, Shape shape, std::uint32_t stride) {
  auto out = output(role, std::move(shape));
  out.stride = Stride{stride, stride};
  out.name = std::string(to_string(role)) + std::to_string(stride);
  return out;
}

// Two levels of a 32 x 16 input, strides 8 and 16: grids of 4 x 2 and 2 x 1.
ModelDescription levels(std::size_t features, BoxEncoding encoding, bool channels_first) {
  const auto shape = [&](std::size_t rows, std::size_t columns, std::size_t f) {
    return channels_first ? Shape{1, f, rows, columns} : Shape{1, rows, columns, f};
  };
  const auto name_axes = [&](OutputDescription& of) {
    if (!channels_first) return;
    for (OutputDescription& each : of.parts)
      each.axes = {AxisName::batch, AxisName::num_features, AxisName::height, AxisName::width};
  };
  auto b = output(OutputRole::boxes, {1, 4, 10});
  b.encoding = encoding;
  b.parts = {part(OutputRole::boxes, shape(1, 2, features), 16),
             part(OutputRole::boxes, shape(2, 4, features), 8)};
  auto s = output(OutputRole::scores, {1, 3, 10});
  s.activation = Activation::sigmoid;
  s.parts = {part(OutputRole::scores, shape(2, 4, 3), 8),
             part(OutputRole::scores, shape(1, 2, 3), 16)};
  name_axes(b);
  name_axes(s);
  auto out = model({b, s});
  out.input = {32, 16};
  return out;
}

TEST(Levels, of_distances_are_boxes_about_the_centres_of_cells) {
  std::vector<float> coarse(8, 0), fine(32, 0), scores(24, -9), others(6, -9);
  fine[5 * 4] = 1, fine[5 * 4 + 1] = 0.5F, fine[5 * 4 + 2] = 3, fine[5 * 4 + 3] = 0.25F;
  scores[5 * 3 + 2] = 2;  // row 1, column 1
  others[3 + 1] = 1;      // row 0, column 1
  coarse[4] = coarse[5] = coarse[6] = coarse[7] = 0.25F;
  const auto found =
      decoded(levels(4, BoxEncoding::direct, false),
              {tensor_of<float>({1, 1, 2, 4}, coarse), tensor_of<float>({1, 2, 4, 4}, fine),
               tensor_of<float>({1, 2, 4, 3}, scores), tensor_of<float>({1, 1, 2, 3}, others)});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].box, (Box{4, 8, 36, 14}));
  EXPECT_EQ(found[0].label, 2);
  EXPECT_EQ(found[0].anchor, 5);
  EXPECT_FLOAT_EQ(found[0].score, 0.8807971F);
  EXPECT_EQ(found[1].box, (Box{20, 4, 28, 12}));
  EXPECT_EQ(found[1].anchor, 8 + 1);
}

TEST(Levels, channels_first_and_last_agree) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 1);
  const auto noise = [&](std::size_t count) {
    std::vector<float> out(count);
    for (float& v : out)
      v = normal(random);
    return out;
  };
  const std::size_t bins = 64;
  const auto b16 = noise(2 * bins), b8 = noise(8 * bins), s8 = noise(24), s16 = noise(6);
  const auto last =
      decoded(levels(bins, BoxEncoding::dfl, false),
              {tensor_of<float>({1, 1, 2, bins}, b16), tensor_of<float>({1, 2, 4, bins}, b8),
               tensor_of<float>({1, 2, 4, 3}, s8), tensor_of<float>({1, 1, 2, 3}, s16)});
  const auto first = decoded(levels(bins, BoxEncoding::dfl, true),
                             {tensor_of<float>({1, bins, 1, 2}, transposed(b16, 2, bins)),
                              tensor_of<float>({1, bins, 2, 4}, transposed(b8, 8, bins)),
                              tensor_of<float>({1, 3, 2, 4}, transposed(s8, 8, 3)),
                              tensor_of<float>({1, 3, 1, 2}, transposed(s16, 2, 3))});
  EXPECT_GE(last.size(), 2U);
  EXPECT_EQ(first, last);
}

TEST(Levels, all_zero_distributions_are_half_of_the_bins_on_each_side) {
  const auto found = decoded(levels(64, BoxEncoding::dfl, false),
                             {filled<float>({1, 1, 2, 64}), filled<float>({1, 2, 4, 64}),
                              filled<float>({1, 2, 4, 3}), filled<float>({1, 1, 2, 3})});
  ASSERT_FALSE(found.empty());
  EXPECT_FLOAT_EQ(found[0].score, 0.5F);
  EXPECT_EQ(found[0].label, 0);  // of equal classes the first
  EXPECT_EQ(found[0].box, (Box{(0.5F - 7.5F) * 8, (0.5F - 7.5F) * 8, 64, 64}));
}

TEST(Levels, of_anchors_follow_the_yolov5_formula) {
  ModelDescription description;
  description.input = {40, 20};
  auto grid = output(OutputRole::detection, {1, 2, 4, 2 * 6});
  grid.anchors = {{0.1F, 0.2F}, {0.3F, 0.4F}};
  description.outputs = {grid};
  std::vector<float> values(2 * 4 * 12, -20);
  float* cell = &values[(1 * 4 + 2) * 12 + 6];  // row 1, column 2, second anchor
  cell[0] = cell[1] = cell[2] = cell[3] = 0;
  cell[4] = 20;
  cell[5] = 0;
  const auto found = decoded(description, {tensor_of<float>({1, 2, 4, 12}, values)});
  ASSERT_EQ(found.size(), 1U);
  // Centre (0.5 + 2, 0.5 + 1) cells of 10 x 10, extent of the anchor itself: 12 x 8.
  EXPECT_EQ(found[0].box, (Box{19, 11, 31, 19}));
  EXPECT_FLOAT_EQ(found[0].score, 0.5F);
  EXPECT_EQ(found[0].anchor, (1 * 4 + 2) * 2 + 1);
}

// ---- what else a head gives ----------------------------------------------------------------

TEST(EndToEnd, rows_keep_corners_classes_and_coefficients) {
  auto rows = output(OutputRole::detection, {1, 3, 8});
  rows.box_units = BoxUnits::pixels;
  auto description = model({rows, output(OutputRole::prototypes, {1, 2, 6, 7})});
  description.decoder_version = "yolo26";
  const std::vector<float> values{10, 10, 50, 50, 0.8F, 1,    0.5F, -1,  //
                                  20, 20, 60, 60, 0.7F, 1.9F, 2,    3,   //
                                  0,  0,  9,  9,  0.1F, 0,    0,    0};
  const auto decoder = *Decoder::create(description);
  Decoded out;
  const std::vector<Tensor> tensors{tensor_of<float>({1, 3, 8}, values),
                                    filled<float>({1, 2, 6, 7})};
  ASSERT_TRUE(decoder.decode_into(tensors, out));
  ASSERT_EQ(out.detections.size(), 2U);
  EXPECT_EQ(out.detections[0].box, (Box{10, 10, 50, 50}));
  EXPECT_EQ(out.detections[1].label, 2);  // the nearest class
  EXPECT_EQ(out.masks.coefficients, (std::vector<float>{0.5F, -1, 2, 3}));
}

TEST(Poses, have_the_points_of_their_own_box) {
  auto description = model({output(OutputRole::detection, {1, 4 + 1 + 6, 2})});
  description.outputs[0].axes = {AxisName::batch, AxisName::num_features, AxisName::num_boxes};
  description.keypoints = KeypointShape{2, 3};
  const std::vector<float> values{0.5F,  0.25F, 0.5F,  0.25F,  0.1F, 0.1F, 0.1F, 0.1F,  // boxes
                                  0.3F,  0.9F,                                          // scores
                                  0.5F,  0.25F, 0.5F,  0.125F, 0.9F, 0.8F,  // first point
                                  0.75F, 0.5F,  0.25F, 0.0F,   0.7F, 0.6F};
  const auto decoder = *Decoder::create(description);
  Decoded out;
  const Tensor tensor = tensor_of<float>({1, 11, 2}, values);
  ASSERT_TRUE(decoder.decode_into({&tensor, 1}, out));
  ASSERT_EQ(out.detections.size(), 2U);
  ASSERT_EQ(out.keypoints_each, 2U);
  ASSERT_EQ(out.keypoints.size(), 4U);
  EXPECT_EQ(out.detections[0].anchor, 1);
  EXPECT_FLOAT_EQ(out.keypoints[0].at.x, 0.25F * 64);
  EXPECT_FLOAT_EQ(out.keypoints[0].at.y, 0.125F * 96);
  EXPECT_FLOAT_EQ(out.keypoints[0].score, 0.8F);
  EXPECT_FLOAT_EQ(out.keypoints[1].at.x, 0.5F * 64);
}

TEST(Ssd, moves_and_grows_priors_and_skips_the_background) {
  auto b = output(OutputRole::boxes, {1, 2, 4});
  b.family = Family::ssd;
  auto s = output(OutputRole::scores, {1, 2, 3});
  s.activation = Activation::softmax;
  auto description = model({b, s, output(OutputRole::priors, {2, 4})});
  const std::vector<float> offsets{0, 0, 0, 0, 1, -1, 5, 0};
  const std::vector<float> logits{9, 0, 0, 0, 1, 9};  // background; class 1
  const std::vector<float> priors{0.5F, 0.5F, 0.2F, 0.2F, 0.5F, 0.5F, 0.25F, 0.5F};
  const auto found =
      decoded(description, {tensor_of<float>({1, 2, 4}, offsets),
                            tensor_of<float>({1, 2, 3}, logits), tensor_of<float>({2, 4}, priors)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].label, 1);
  const float width = 0.25F * std::exp(1.0F) * 64;
  EXPECT_NEAR(found[0].box.x1, (0.5F + 0.1F * 0.25F) * 64 - width / 2, 1e-4);
  EXPECT_NEAR(found[0].box.x2, (0.5F + 0.1F * 0.25F) * 64 + width / 2, 1e-4);
  EXPECT_NEAR(found[0].box.y1, (0.5F - 0.05F) * 96 - 24, 1e-4);
  EXPECT_NEAR(found[0].score, std::exp(9.0) / (1 + std::exp(1.0) + std::exp(9.0)), 1e-6);
}

TEST(Nanodet, reads_scores_first_and_levels_one_after_the_other) {
  auto flat = output(OutputRole::detection, {1, 5, 2 + 32});
  flat.family = Family::nanodet;
  flat.strides = {8, 16};
  ModelDescription description;
  description.input = {16, 16};  // 2 x 2 and 1 x 1
  description.labels = {"boat", "buoy"};
  description.outputs = {flat};
  std::vector<float> values(5 * 34, 0);
  values[3 * 34] = 0.9F;      // stride 8, row 1, column 1
  values[4 * 34 + 1] = 0.8F;  // stride 16
  for (int side = 0; side < 4; ++side) {
    values[3 * 34 + 2 + static_cast<std::size_t>(side) * 8 + 1] = 100;
    values[4 * 34 + 2 + static_cast<std::size_t>(side) * 8 + 2] = 100;
  }
  const auto found = decoded(description, {tensor_of<float>({1, 5, 34}, values)});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].box, (Box{4, 4, 20, 20}));
  EXPECT_EQ(found[1].box, (Box{-24, -24, 40, 40}));
  EXPECT_EQ(found[1].label, 1);
}

}  // namespace
}  // namespace halyard::test
