// SPDX-License-Identifier: Apache-2.0
// Decoder: which head, which axis, which units; equal results for every type and memory order.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "decode/naive.h"
#include "decode/tensors.h"
#include "halyard/decode.h"
#include "support/result.h"

namespace halyard::test {
namespace {

constexpr Size input{640, 480};

Result<Decoder> decoder_for(std::vector<std::size_t> shape, DecodeOptions options = {},
                            std::optional<BoxUnits> units = BoxUnits::fraction) {
  const TensorSpec spec{"out", DType::f32, std::move(shape), {}, {}};
  return Decoder::for_outputs({&spec, 1}, input, options, units);
}

ModelDescription described(std::vector<std::size_t> shape) {
  ModelDescription out;
  out.input = input;
  out.outputs = {{.shape = std::move(shape), .box_units = BoxUnits::fraction}};
  return out;
}

std::vector<Detection> decoded_by(const Decoder& decoder, const Tensor& tensor,
                                  std::size_t batch = 0) {
  const auto found = decoder.decode({&tensor, 1}, batch);
  EXPECT_TRUE(found) << found.error().message();
  return found ? *found : std::vector<Detection>{};
}

void expect_same(const std::vector<Detection>& a, const std::vector<naive::Found>& b,
                 double tolerance = 1e-3) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].anchor, b[i].anchor);
    EXPECT_EQ(a[i].label, b[i].label);
    EXPECT_NEAR(a[i].score, b[i].score, 1e-6);
    EXPECT_NEAR(a[i].box.x1, b[i].x1, tolerance);
    EXPECT_NEAR(a[i].box.y1, b[i].y1, tolerance);
    EXPECT_NEAR(a[i].box.x2, b[i].x2, tolerance);
    EXPECT_NEAR(a[i].box.y2, b[i].y2, tolerance);
  }
}

TEST(Decoder, turns_centre_and_extent_into_corners) {
  ASSERT_VALUE(const auto decoder, decoder_for({1, 5, 1}, {}, BoxUnits::pixels));
  EXPECT_EQ(decoder.class_count(), 1U);
  const auto found = decoded_by(decoder, tensor_of<float>({1, 5, 1}, {10, 20, 20, 20, 0.9F}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], (Detection{{0, 10, 20, 30}, 0.9F, 0, 0}));
}

TEST(Decoder, scales_fractions_to_input_pixels_and_does_not_clip) {
  const auto decoder = decoder_for({1, 5, 1});
  const auto found =
      decoded_by(*decoder, tensor_of<float>({1, 5, 1}, {0.5F, 0.5F, 2, 0.5F, 0.25F}));
  ASSERT_EQ(found.size(), 1U);  // the score is exactly the threshold
  EXPECT_EQ(found[0].box, (Box{-320, 120, 960, 360}));
}

TEST(Decoder, equals_the_naive_head_on_random_outputs) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::size_t classes = 1 + seed * 5;
    const std::size_t anchors = classes + 5 + seed * 101;
    const auto values = random_head(classes, anchors, seed, 3);
    const auto value = [&](int f, int a) {
      return static_cast<double>(values[static_cast<std::size_t>(f) * anchors + a]);
    };
    for (const bool aware : {true, false}) {
      ASSERT_VALUE(const auto decoder,
                   decoder_for({1, 4 + classes, anchors},
                               {.nms = aware ? Nms::class_aware : Nms::class_agnostic}));
      expect_same(decoded_by(decoder, tensor_of({1, 4 + classes, anchors}, values)),
                  naive::decode(value, static_cast<int>(4 + classes), static_cast<int>(anchors),
                                input.width, input.height, {.iou = 0.45F, .class_aware = aware}));
    }
  }
}

TEST(Decoder, gives_the_same_in_both_memory_orders) {
  const auto values = random_head(80, 2100, 4);
  const auto first = decoded_by(*decoder_for({1, 84, 2100}), tensor_of({1, 84, 2100}, values));
  const auto rotated = transposed(values, 84, 2100);
  EXPECT_GT(first.size(), 20U);
  EXPECT_EQ(decoded_by(*decoder_for({1, 2100, 84}), tensor_of({1, 2100, 84}, rotated)), first);
  EXPECT_EQ(decoded_by(*decoder_for({2100, 84}), tensor_of({2100, 84}, rotated)), first);
}

TEST(Decoder, takes_the_axes_from_names) {
  ModelDescription description;
  description.input = input;
  description.outputs = {
      {.shape = {1, 30, 1, 20},
       .axes = {AxisName::batch, AxisName::num_features, AxisName::padding, AxisName::num_boxes},
       .box_units = BoxUnits::fraction}};
  const auto values = random_head(26, 20, 8, 2);
  ASSERT_VALUE(const auto decoder, Decoder::create(description));
  EXPECT_EQ(decoder.class_count(), 26U);  // by shape it would be 16
  const auto found = decoded_by(decoder, tensor_of({1, 30, 1, 20}, values));
  description.outputs[0].shape = {20, 1, 30};
  description.outputs[0].axes = {AxisName::num_boxes, AxisName::batch, AxisName::num_features};
  const auto rotated =
      decoded_by(*Decoder::create(description), tensor_of({20, 1, 30}, transposed(values, 30, 20)));
  EXPECT_GT(found.size(), 3U);
  EXPECT_EQ(found, rotated);
}

TEST(Decoder, labels_decide_where_the_shape_does_not) {
  auto description = described({1, 24, 10});
  EXPECT_EQ(Decoder::create(description)->class_count(), 6U);  // the shorter axis
  description.labels.assign(20, "thing");
  EXPECT_EQ(Decoder::create(description)->class_count(), 20U);
}

TEST(Decoder, refuses_labels_that_are_not_one_for_each_class) {
  auto description = described({1, 24, 10});
  description.labels.assign(13, "thing");
  const auto combined = Decoder::create(description);
  ASSERT_FALSE(combined);
  EXPECT_EQ(combined.error().message(),
            "labels: must be one per class: 13 given, the outputs have 6 classes");
  description.origins = {{"labels", "labels.txt beside model.onnx"}};
  EXPECT_FAILS(Decoder::create(description),
               "13 given (labels.txt beside model.onnx), the outputs have 6 classes");
  description.outputs = {{.role = OutputRole::boxes, .shape = {1, 4, 2100}},
                         {.role = OutputRole::scores, .shape = {1, 12, 2100}}};
  EXPECT_FAILS(Decoder::create(description), "13 given");
  description.outputs[1].shape = {1, 13, 2100};
  EXPECT_TRUE(Decoder::create(description));
}

TEST(Decoder, f16_gives_what_its_values_give_as_f32) {
  const auto exact = random_head(20, 300, 5, 5);
  std::vector<Half> halves;
  std::vector<float> widened;
  for (const float value : exact) {
    halves.push_back(to_half(value));
    widened.push_back(static_cast<float>(
        std::ldexp(1024.0 * (halves.back().bits >> 10 != 0) + (halves.back().bits & 1023),
                   std::max(halves.back().bits >> 10, 1) - 25)));
  }
  const auto decoder = decoder_for({1, 24, 300});
  const auto found = decoded_by(*decoder, tensor_of({1, 24, 300}, halves));
  EXPECT_GT(found.size(), 10U);
  EXPECT_EQ(found, decoded_by(*decoder, tensor_of({1, 24, 300}, widened)));
}

template <class T>
Tensor stored(const std::vector<float>& values, float scale, std::int32_t zero, std::size_t f,
              std::size_t n) {
  std::vector<T> out;
  for (const float v : values) {
    const float q = std::nearbyint(v / scale) + static_cast<float>(zero);
    out.push_back(static_cast<T>(std::clamp(q, static_cast<float>(std::numeric_limits<T>::min()),
                                            static_cast<float>(std::numeric_limits<T>::max()))));
  }
  return quantized_of({1, f, n}, out, scale, zero);
}

TEST(Decoder, shifting_the_zero_point_or_widening_the_type_changes_nothing) {
  const auto values = random_head(20, 1029, 6, 5);
  const float scale = 1 / 250.0F;
  const auto decoder = decoder_for({1, 24, 1029});
  const auto i8 = decoded_by(*decoder, stored<std::int8_t>(values, scale, -128, 24, 1029));
  EXPECT_GT(i8.size(), 10U);
  EXPECT_EQ(decoded_by(*decoder, stored<std::uint8_t>(values, scale, 0, 24, 1029)), i8);
  EXPECT_EQ(decoded_by(*decoder, stored<std::int16_t>(values, scale, -128, 24, 1029)), i8);
  EXPECT_EQ(decoded_by(*decoder, stored<std::uint16_t>(values, scale, 40000, 24, 1029)), i8);
}

TEST(Decoder, raw_comparison_finds_what_dequantizing_first_finds) {
  const auto values = random_head(10, 500, 11, 2);
  for (const float threshold : {0.0F, 0.1F, 25 / 250.0F, 0.5F, 1.0F}) {
    const auto decoder = decoder_for({1, 14, 500}, {.score_threshold = threshold});
    const auto tensor = stored<std::int8_t>(values, 1 / 250.0F, -128, 14, 500);
    std::vector<float> real;
    const auto map = *tensor.map(Access::read);
    const auto stored_values = *map.flat<const std::int8_t>();
    for (const std::int8_t q : stored_values)
      real.push_back((static_cast<float>(q) + 128) * (1 / 250.0F));
    EXPECT_EQ(decoded_by(*decoder, tensor), decoded_by(*decoder, tensor_of({1, 14, 500}, real)));
  }
}

TEST(Decoder, tensor_quantization_wins_over_the_descriptions) {
  TensorSpec spec{"", DType::i8, {1, 5, 1}, Quantization::per_tensor(0.5F, 0), {}};
  const auto decoder = Decoder::for_outputs({&spec, 1}, input, {}, BoxUnits::pixels);
  const Tensor bare = tensor_of<std::int8_t>({1, 5, 1}, {10, 10, 4, 4, 1});
  const auto by_description = decoded_by(*decoder, bare);
  ASSERT_EQ(by_description.size(), 1U);
  EXPECT_EQ(by_description[0].box, (Box{4, 4, 6, 6}));
  const auto own = decoded_by(*decoder, quantized<std::int8_t>(bare, 0.25F, -2));
  ASSERT_EQ(own.size(), 1U);
  EXPECT_EQ(own[0], (Detection{{2.25F, 2.25F, 3.75F, 3.75F}, 0.75F, 0, 0}));
}

TEST(Decoder, finds_box_units_from_the_range_of_the_values) {
  const std::vector<std::int8_t> values{0, 0, 64, 64, 127};
  const Tensor tensor = tensor_of<std::int8_t>({1, 5, 1}, values);
  const auto decoder = decoder_for({1, 5, 1}, {}, std::nullopt);
  // Up to 1: fractions. Up to 637: pixels.
  EXPECT_EQ(decoded_by(*decoder, quantized<std::int8_t>(tensor, 1 / 255.0F, -128))[0].box.width(),
            static_cast<float>(640 * (192 * (1 / 255.0F))));
  EXPECT_EQ(decoded_by(*decoder, quantized<std::int8_t>(tensor, 2.5F, -128))[0].box.width(), 480);
  EXPECT_EQ(decoded_by(*decoder, tensor_of<float>({1, 5, 1}, {0.5F, 0.5F, 1, 1, 1}))[0].box,
            (Box{0, 0, 1, 1}));
}

TEST(Decoder, decodes_the_batch_element_asked_for) {
  auto both = random_head(6, 70, 21, 4);
  const auto second = random_head(6, 70, 22, 4);
  const std::vector<float> first = both;
  both.insert(both.end(), second.begin(), second.end());
  const auto decoder = decoder_for({1, 10, 70});  // a batch of one in the description
  const Tensor tensor = tensor_of({2, 10, 70}, both);
  EXPECT_EQ(decoded_by(*decoder, tensor, 0), decoded_by(*decoder, tensor_of({1, 10, 70}, first)));
  EXPECT_EQ(decoded_by(*decoder, tensor, 1), decoded_by(*decoder, tensor_of({1, 10, 70}, second)));
  const auto third = decoder->decode({&tensor, 1}, 2);
  EXPECT_FAILS(third, Errc::invalid_argument, "batch");
}

TEST(Decoder, reads_strided_tensors) {
  const auto values = random_head(6, 70, 23, 4);
  std::vector<float> padded(2 * 10 * 100, 0.99F);  // a row of 100, each second element
  for (std::size_t f = 0; f < 10; ++f) {
    for (std::size_t a = 0; a < 70; ++a)
      padded[f * 200 + a * 2] = values[f * 70 + a];
  }
  const Tensor whole = tensor_of({2000}, padded);
  Layout layout = *Layout::contiguous(DType::f32, std::array<std::size_t, 3>{1, 10, 70});
  layout.stride_bytes = {8000, 800, 8};
  ASSERT_VALUE(const auto strided, Tensor::wrap(whole.buffer(), layout));
  const auto decoder = decoder_for({1, 10, 70});
  const auto found = decoded_by(*decoder, strided);
  EXPECT_GT(found.size(), 5U);
  EXPECT_EQ(found, decoded_by(*decoder, tensor_of({1, 10, 70}, values)));
}

TEST(Decoder, nan_and_infinite_and_inverted_boxes_never_come_out) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  //                              cx             cy  w             h         score
  const std::vector<float> values{
      1,    1,   nan,  1,    infinity, 1,        1,  // cx of seven anchors
      1,    1,   1,    1,    1,        1,        1,  // cy
      1,    1,   1,    -1,   1,        infinity, 0,  // w
      1,    1,   1,    1,    1,        1,        1,  // h
      0.9F, nan, 0.9F, 0.9F, 0.9F,     0.9F,     0.9F};
  const auto found =
      decoded_by(*decoder_for({1, 5, 7}, {.nms = Nms::none}), tensor_of({1, 5, 7}, values));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].anchor, 0);
  EXPECT_EQ(found[1].anchor, 6);  // an empty box is a box
  const std::vector<float> all_nan(35, nan);
  EXPECT_TRUE(decoded_by(*decoder_for({1, 5, 7}), tensor_of({1, 5, 7}, all_nan)).empty());
}

TEST(Decoder, options_cap_and_choose_suppression) {
  const auto values = random_head(6, 200, 31, 1);  // every anchor passes
  const Tensor tensor = tensor_of({1, 10, 200}, values);
  EXPECT_EQ(decoded_by(*decoder_for({1, 10, 200}, {.nms = Nms::none}), tensor).size(), 200U);
  EXPECT_EQ(decoded_by(*decoder_for({1, 10, 200}, {.nms = Nms::none, .max_detections = 7}), tensor)
                .size(),
            7U);
  EXPECT_EQ(decoded_by(*decoder_for({1, 10, 200}, {.pre_nms_top_k = 1}), tensor).size(), 1U);
  const auto found = decoded_by(*decoder_for({1, 10, 200}, {.score_threshold = 0.8F}), tensor);
  EXPECT_FALSE(found.empty());
  for (const auto& d : found)
    EXPECT_GE(d.score, 0.8F);
}

TEST(Decoder, suppression_mode_is_the_callers_then_the_documents_then_class_aware) {
  auto description = described({1, 84, 2100});
  EXPECT_EQ(Decoder::create(description)->options().nms, Nms::class_aware);
  description.nms = Nms::class_agnostic;
  EXPECT_EQ(Decoder::create(description)->options().nms, Nms::class_agnostic);
  EXPECT_EQ(Decoder::create(description, {.nms = Nms::none})->options().nms, Nms::none);
}

}  // namespace
}  // namespace halyard::test
