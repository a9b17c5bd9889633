// SPDX-License-Identifier: Apache-2.0
// From a segmentation head to masks: the row of coefficients belongs to its own box, whatever the
// layout, the element types and who survives.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "decode/head/heads.h"
#include "decode/nms/selector.h"
#include "decode/tensors.h"

namespace halyard::test {
namespace {

using Shape = std::vector<std::size_t>;

constexpr BoxUnits fraction = BoxUnits::fraction;
constexpr std::size_t grid = 16;  // prototypes of 16 x 16 for an input of 64 x 64
constexpr std::size_t pixels = grid * grid;

// Means of the masks at the prototypes' resolution, as probabilities in 0..255.
std::vector<double> means_of(const Decoded& out) {
  MaskSet set;
  EXPECT_OK(materialize(out.masks, out.detections, {MaskRule::probability, {}, {}}, set));
  std::vector<double> means;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const MaskView mask = set[i];
    double sum = 0;
    for (int y = 0; y < mask.region.height; ++y) {
      for (int x = 0; x < mask.region.width; ++x)
        sum += mask.row(y)[x];
    }
    means.push_back(sum / (mask.region.width * mask.region.height));
  }
  return means;
}

TEST(DecodedMasks, pair_rows_with_their_own_boxes) {
  const auto description =
      model_of({64, 64}, {output_of(OutputRole::detection, {1, 8, 3}, fraction),
                          output_of(OutputRole::prototypes, {1, grid, grid, 2})});
  const std::vector<float> values{0.2F, 0.5F, 0.8F, 0.5F, 0.5F, 0.5F,  // centres
                                  0.1F, 0.1F, 0.1F, 0.1F, 0.1F, 0.1F,  // extents
                                  0.9F, 0,    0.8F, 0,    0,    0,     // two classes
                                  3,    0,    -3,   3,    0,    -3};   // coefficients
  const auto out = decode_all(
      description, {tensor_of<float>({1, 8, 3}, values), filled<float>({1, grid, grid, 2}, 1)});
  ASSERT_EQ(out.detections.size(), 2U);
  const auto means = means_of(out);
  EXPECT_EQ(means[0], 254);  // round(255 sigmoid(6))
  EXPECT_EQ(means[1], 1);
}

// Ten strips side by side among 256 boxes; the coefficient of box a is one-hot at a mod 32, and
// that prototype is on in the strip of a alone.
struct Strips {
  static constexpr std::size_t boxes = 256, masks = 32, classes = 2;
  std::vector<float> boxes_rows = std::vector<float>(4 * boxes, 0.01F);
  std::vector<float> scores = std::vector<float>(classes * boxes, 0);
  std::vector<float> coefficients = std::vector<float>(masks * boxes, 0);
  std::vector<float> prototypes = std::vector<float>(pixels * masks, 0);  // [y, x, k]

  Strips() {
    for (std::size_t a = 0; a < boxes; ++a)
      coefficients[a % masks * boxes + a] = 1;
    for (std::size_t t = 0; t < 10; ++t) {
      const std::size_t a = 3 + 25 * t;
      const float x = 0.05F + 0.08F * static_cast<float>(t);
      boxes_rows[a] = x, boxes_rows[boxes + a] = 0.5F;
      boxes_rows[2 * boxes + a] = 0.06F, boxes_rows[3 * boxes + a] = 0.4F;
      scores[t % 2 * boxes + a] = 0.9F - 0.01F * static_cast<float>(t);
      for (std::size_t p = 0; p < pixels; ++p) {
        const float left = static_cast<float>(p % grid) / grid, right = left + 1.0F / grid;
        if (right > x - 0.03F && left < x + 0.03F) prototypes[p * masks + a % masks] = 8;
      }
    }
  }
  std::vector<float> combined(bool with_masks) const {
    auto out = boxes_rows;
    out.insert(out.end(), scores.begin(), scores.end());
    if (with_masks) out.insert(out.end(), coefficients.begin(), coefficients.end());
    return out;
  }
};

Tensor as_i8(const Shape& shape, const std::vector<float>& values, float scale, int zero) {
  std::vector<std::int8_t> out;
  for (const float v : values)
    out.push_back(static_cast<std::int8_t>(std::lround(v / scale) + zero));
  return quantized_of<std::int8_t>(shape, out, scale, zero);
}

class SegmentedStrips : public ::testing::Test {
 protected:
  void check(const ModelDescription& description, const std::vector<Tensor>& tensors) {
    const auto out = decode_all(description, tensors);
    ASSERT_EQ(out.detections.size(), 10U);
    ASSERT_EQ(out.masks.size(), 10U);
    for (const double mean : means_of(out))
      EXPECT_GT(mean, 250);  // about 128 where another row is taken
  }
  ModelDescription with_prototypes(const Shape& shape) const {
    return model_of({64, 64}, {output_of(OutputRole::detection, whole_, fraction),
                               output_of(OutputRole::prototypes, shape)});
  }
  const Strips strips_;
  const Shape packed_{1, grid, grid, Strips::masks};
  const Shape planar_{1, Strips::masks, grid, grid};
  const Shape whole_{1, 38, Strips::boxes};
};

TEST_F(SegmentedStrips, of_one_tensor_and_prototypes_of_either_order) {
  const auto head = tensor_of<float>(whole_, strips_.combined(true));
  check(with_prototypes(packed_), {head, tensor_of<float>(packed_, strips_.prototypes)});
  const auto rotated = transposed(strips_.prototypes, pixels, Strips::masks);
  check(model_of({64, 64}, {output_of(OutputRole::prototypes, planar_),
                            output_of(OutputRole::detection, whole_, fraction)}),
        {tensor_of<float>(planar_, rotated), head});
  auto bare = with_prototypes(planar_);
  check(bare, {head, tensor_of<float>({Strips::masks, grid, grid}, rotated)});
  std::vector<Half> halves;
  for (const float v : strips_.combined(true))
    halves.push_back(to_half(v));
  check(bare, {tensor_of<Half>(whole_, halves), tensor_of<float>(planar_, rotated)});
}

TEST_F(SegmentedStrips, of_separate_coefficients_in_integers_of_any_kind) {
  const Shape detection{1, 6, Strips::boxes}, rows{1, Strips::masks, Strips::boxes};
  const auto description =
      model_of({64, 64}, {output_of(OutputRole::detection, detection, fraction),
                          output_of(OutputRole::mask_coefficients, rows),
                          output_of(OutputRole::prototypes, packed_)});
  const auto head = as_i8(detection, strips_.combined(false), 1 / 200.0F, -100);
  const auto coefficients = as_i8(rows, strips_.coefficients, 0.02F, 5);
  check(description, {head, coefficients, as_i8(packed_, strips_.prototypes, 0.1F, -7)});
  std::vector<std::uint8_t> bytes;
  std::vector<std::int16_t> words;
  for (const float v : strips_.prototypes) {
    bytes.push_back(static_cast<std::uint8_t>(std::lround(v / 0.1F) + 130));
    words.push_back(static_cast<std::int16_t>(std::lround(v / 0.001F) - 900));
  }
  check(description, {head, coefficients, quantized_of<std::uint8_t>(packed_, bytes, 0.1F, 130)});
  check(description,
        {head, coefficients, quantized_of<std::int16_t>(packed_, words, 0.001F, -900)});
  // Boxes first, as compilers turn them.
  auto rotated = model_of(
      {64, 64}, {output_of(OutputRole::detection, {1, Strips::boxes, 6}, fraction),
                 output_of(OutputRole::mask_coefficients, {1, Strips::boxes, Strips::masks}),
                 output_of(OutputRole::prototypes, packed_)});
  rotated.decoder_version = "yolo11";  // rows of 6 would be end-to-end ones
  check(rotated, {as_i8({1, Strips::boxes, 6},
                        transposed(strips_.combined(false), 6, Strips::boxes), 1 / 200.0F, -100),
                  as_i8({1, Strips::boxes, Strips::masks},
                        transposed(strips_.coefficients, Strips::masks, Strips::boxes), 0.02F, 5),
                  as_i8(packed_, strips_.prototypes, 0.1F, -7)});
}

TEST_F(SegmentedStrips, of_boxes_scores_and_coefficients_in_tensors_of_their_own) {
  const Shape b{1, 4, Strips::boxes}, s{1, 2, Strips::boxes}, m{1, Strips::masks, Strips::boxes};
  check(model_of({64, 64},
                 {output_of(OutputRole::boxes, b, fraction), output_of(OutputRole::scores, s),
                  output_of(OutputRole::mask_coefficients, m),
                  output_of(OutputRole::prototypes, packed_)}),
        {tensor_of<float>(b, strips_.boxes_rows), tensor_of<float>(s, strips_.scores),
         tensor_of<float>(m, strips_.coefficients), tensor_of<float>(packed_, strips_.prototypes)});
}

TEST_F(SegmentedStrips, with_a_scale_for_each_feature_and_a_described_one) {
  const auto values = strips_.combined(true);
  Quantization each{{}, {}, 1};
  std::vector<std::int8_t> stored;
  for (std::size_t f = 0; f < 38; ++f) {
    each.scale.push_back(0.008F + 0.0002F * static_cast<float>(f));
    each.zero_point.push_back(static_cast<int>(f % 5));
    for (std::size_t a = 0; a < Strips::boxes; ++a)
      stored.push_back(static_cast<std::int8_t>(
          std::lround(values[f * Strips::boxes + a] / each.scale[f]) + each.zero_point[f]));
  }
  Tensor head = tensor_of<std::int8_t>(whole_, stored);
  ASSERT_TRUE(head.set_quantization(each));
  auto description = with_prototypes(packed_);
  check(description, {head, tensor_of<float>(packed_, strips_.prototypes)});
  std::vector<std::int8_t> prototypes;
  for (const float v : strips_.prototypes)
    prototypes.push_back(static_cast<std::int8_t>(std::lround(v * 10)));
  description.outputs[0].quantization = each;
  description.outputs[1].quantization = Quantization::per_tensor(0.1F, 0);
  check(description,
        {tensor_of<std::int8_t>(whole_, stored), tensor_of<std::int8_t>(packed_, prototypes)});
  // The description counts a batch axis that the tensor lacks.
  check(description, {tensor_of<std::int8_t>({38, Strips::boxes}, stored),
                      tensor_of<std::int8_t>({grid, grid, Strips::masks}, prototypes)});
}

TEST_F(SegmentedStrips, of_the_batch_element_asked_for) {
  auto head = std::vector<float>(38 * Strips::boxes, 0);
  auto prototypes = std::vector<float>(pixels * Strips::masks, -8);
  const auto wanted = strips_.combined(true);
  head.insert(head.end(), wanted.begin(), wanted.end());
  prototypes.insert(prototypes.end(), strips_.prototypes.begin(), strips_.prototypes.end());
  const auto out = decode_all(with_prototypes(packed_),
                              {tensor_of<float>({2, 38, Strips::boxes}, head),
                               tensor_of<float>({2, grid, grid, Strips::masks}, prototypes)},
                              {}, 1);
  ASSERT_EQ(out.detections.size(), 10U);
  for (const double mean : means_of(out))
    EXPECT_GT(mean, 250);
}

TEST_F(SegmentedStrips, share_their_row_where_a_box_has_two_classes) {
  auto values = strips_.combined(true);
  values[4 * Strips::boxes + 3] = 0.9F;
  values[5 * Strips::boxes + 3] = 0.8F;
  const DecodeOptions options{.multi_label = true};
  const auto out = decode_all(
      with_prototypes(packed_),
      {tensor_of<float>(whole_, values), tensor_of<float>(packed_, strips_.prototypes)}, options);
  ASSERT_EQ(out.detections.size(), 11U);
  for (const double mean : means_of(out))
    EXPECT_GT(mean, 250);
}

TEST_F(SegmentedStrips, without_a_survivor_keep_shape_and_prototypes) {
  const auto out =
      decode_all(with_prototypes(planar_),
                 {filled<float>(whole_), tensor_of<float>(planar_, strips_.prototypes)});
  EXPECT_TRUE(out.masks.empty());
  EXPECT_EQ(out.masks.channels, Strips::masks);
  EXPECT_EQ(out.masks.order, PrototypeOrder::channels_height_width);
  EXPECT_EQ(out.masks.prototypes.rank(), 4U);
}

TEST_F(SegmentedStrips, coefficients_that_are_not_finite_make_an_empty_mask) {
  auto values = strips_.combined(true);
  values[(6 + 3) * Strips::boxes + 3] = std::numeric_limits<float>::infinity();
  const auto out =
      decode_all(with_prototypes(packed_),
                 {tensor_of<float>(whole_, values), tensor_of<float>(packed_, strips_.prototypes)});
  ASSERT_EQ(out.detections.size(), 10U);
  MaskSet set;
  ASSERT_TRUE(materialize(out.masks, out.detections, {MaskRule::prototype, {}, {}}, set));
  std::size_t on = 0;
  for (int y = 0; y < set[0].region.height; ++y)
    on += set[0].row(y)[0];
  EXPECT_EQ(on, 0U);
  EXPECT_EQ(set[1].row(0)[0], 255);
}

TEST(DecodedMasks, refuse_prototypes_whose_axes_are_mixed) {
  auto description = model_of({64, 64}, {output_of(OutputRole::detection, {1, 38, 256}, fraction),
                                         output_of(OutputRole::prototypes, {1, grid, 32, grid})});
  description.outputs[1].axes = {AxisName::batch, AxisName::height, AxisName::num_protos,
                                 AxisName::width};
  EXPECT_FAILS(Decoder::create(description), "prototypes");
}

}  // namespace
}  // namespace halyard::test
