// SPDX-License-Identifier: Apache-2.0
// Mistakes that decoders are known for, each with a case that would show it. Those that other tests
// show are in known_cases_test.cpp's list.
#include <gtest/gtest.h>

#include <cmath>

#include "decode/description/documents.h"
#include "decode/head/head_values.h"

namespace halyard::test {
namespace {

using enum AxisName;

std::size_t count_of(const HeadLayout& layout, const DecodeOptions& options) {
  constexpr DType type = DType::f32;
  const HeadValues values(layout, {&type, 1}, false, 1);
  return decode_all(layout.description, values.tensors(), options).detections.size();
}

bool gives_boxes(const HeadLayout& layout) {
  return layout.description.outputs[0].role != OutputRole::classification;
}

TEST(KnownMistakes, a_head_that_ignores_how_many_may_come_out) {
  for (const HeadLayout& layout : head_layouts()) {
    if (!gives_boxes(layout)) continue;
    SCOPED_TRACE(layout.head + layout.layout);
    DecodeOptions options{.score_threshold = 0.3F, .nms = Nms::none};
    EXPECT_GE(count_of(layout, options), 3U);
    options.max_detections = 2;
    EXPECT_EQ(count_of(layout, options), 2U);
    // So many enter suppression; networks that suppress by themselves have none.
    ASSERT_VALUE(const auto decoder,
                 Decoder::create(layout.description, {.nms = Nms::class_agnostic}));
    if (decoder.options().nms == Nms::none) continue;
    options.nms = Nms::class_agnostic;
    options.max_detections = 0;
    options.pre_nms_top_k = 1;
    EXPECT_EQ(count_of(layout, options), 1U);
  }
}

TEST(KnownMistakes, a_list_whose_memory_decides_how_much_comes_out) {
  const HeadLayout layout = head_layouts()[0];
  constexpr DType type = DType::f32;
  const HeadValues values(layout, {&type, 1}, false, 1);
  const auto decoder = *Decoder::create(layout.description, {.nms = Nms::none});
  Decoded small;
  small.detections.reserve(1);
  ASSERT_TRUE(decoder.decode_into(values.tensors(), small));
  EXPECT_GT(small.detections.size(), 3U);
}

TEST(KnownMistakes, a_suppression_that_the_family_overrides) {
  for (const HeadLayout& layout : head_layouts()) {
    if (layout.head != "ModelPack") continue;
    DecodeOptions options{.score_threshold = 0.3F, .iou_threshold = 0.05F};
    std::size_t counts[3];
    for (const Nms nms : {Nms::class_agnostic, Nms::class_aware, Nms::none}) {
      options.nms = nms;
      counts[nms == Nms::class_agnostic ? 0
             : nms == Nms::class_aware  ? 1
                                        : 2] = count_of(layout, options);
    }
    EXPECT_LT(counts[0], counts[1]);
    EXPECT_LT(counts[1], counts[2]);
  }
}

TEST(KnownMistakes, classes_of_rows_that_are_cut_off_in_one_head_and_rounded_in_another) {
  for (const bool has_masks : {false, true}) {
    const std::size_t features = has_masks ? 8 : 6;
    auto description = model_of({64, 64}, {output_of(OutputRole::detection, {1, 3, features})});
    description.decoder_version = "yolo26";
    description.outputs[0].axes = {batch, num_boxes, num_features};
    std::vector<float> values(3 * features, 0);
    const float row[] = {10, 10, 20, 20, 0.9F, 1.9F};
    std::copy(std::begin(row), std::end(row), values.begin());
    std::vector<Tensor> tensors{tensor_of<float>({1, 3, features}, values)};
    if (has_masks) {
      description.outputs.push_back(output_of(OutputRole::prototypes, {1, 16, 16, 2}));
      tensors.push_back(filled<float>({1, 16, 16, 2}));
    }
    const auto out = decode_all(description, tensors);
    ASSERT_EQ(out.detections.size(), 1U);
    EXPECT_EQ(out.detections[0].label, 2);
  }
}

// Scores of logits in one of three layouts; the activation is asked for.
std::vector<Detection> activated(int layout, Activation activation) {
  auto scores = output_of(OutputRole::scores, {1, 2, 9});
  scores.activation = activation;
  auto boxes = output_of(OutputRole::boxes, {1, 4, 9});
  const std::vector<float> b(36, 10);
  std::vector<float> s(18, -9);
  s[3] = 1, s[9 + 3] = 2;
  const auto part = [&](OutputRole role, const char* name) {
    auto out = output_of(role, {1, 2, 9});
    out.name = name;
    out.box_units = {};
    out.axes = {batch, num_features, num_boxes};
    return out;
  };
  std::vector<Tensor> tensors{tensor_of<float>({1, 4, 9}, b), tensor_of<float>({1, 2, 9}, s)};
  if (layout == 1) {
    boxes.parts = {part(OutputRole::boxes_xy, "xy"), part(OutputRole::boxes_wh, "wh")};
    scores.name = "s";
    const std::vector<float> half(18, 10);
    tensors = {tensor_of<float>({1, 2, 9}, half), tensor_of<float>({1, 2, 9}, half), tensors[1]};
    const char* names[] = {"xy", "wh", "s"};
    for (std::size_t i = 0; i < 3; ++i)
      tensors[i].set_name(names[i]);
  }
  auto description = model_of({64, 64}, {boxes, scores});
  if (layout == 2) {
    auto whole = output_of(OutputRole::detection, {1, 6, 9});
    whole.activation = activation;
    description.outputs = {whole};
    auto values = b;
    values.insert(values.end(), s.begin(), s.end());
    tensors = {tensor_of<float>({1, 6, 9}, values)};
  }
  return decode_all(description, tensors, {.score_threshold = 0.5F}).detections;
}

TEST(KnownMistakes, activations_that_are_asked_for_and_not_applied) {
  for (const int layout : {0, 1, 2}) {
    SCOPED_TRACE(layout);
    const auto logistic = activated(layout, Activation::sigmoid);
    ASSERT_EQ(logistic.size(), 1U);
    EXPECT_EQ(logistic[0].label, 1);
    EXPECT_NEAR(logistic[0].score, 1 / (1 + std::exp(-2.0)), 1e-6);
    const auto shares = activated(layout, Activation::softmax);
    ASSERT_FALSE(shares.empty());
    EXPECT_NEAR(shares[0].score, 1 / (1 + std::exp(-1.0)), 1e-6);
  }
}

TEST(KnownMistakes, tensors_of_one_shape_that_take_each_others_place) {
  // As many classes as a box has numbers of distributions: shapes do not tell, names do.
  HeadLayout layout = by_levels("", "", Coded::bins, false, {{8, 8}, {16, 16}});
  for (StoredTensor& tensor : layout.tensors) {
    if (tensor.blocks[0].part == Part::scores) {
      tensor.blocks[0].count = 4 * layout_bins;
      tensor.shape[3] = 4 * layout_bins;
    }
  }
  auto& scores = layout.description.outputs[1];
  scores.shape[1] = 4 * layout_bins;
  for (OutputDescription& part : scores.parts)
    part.shape[3] = 4 * layout_bins;
  constexpr DType type = DType::f32;
  const HeadValues values(layout, {&type, 1}, false, 1);
  auto tensors = values.tensors();
  const auto forth = decode_all(layout.description, tensors);
  std::reverse(tensors.begin(), tensors.end());
  const auto back = decode_all(layout.description, tensors);
  EXPECT_GT(forth.detections.size(), 3U);
  EXPECT_EQ(forth.detections, back.detections);
}

TEST(KnownMistakes, tasks_and_codings_that_are_passed_over_in_silence) {
  const auto boxes = output_of(OutputRole::boxes, {1, 4, 9});
  const auto scores = output_of(OutputRole::scores, {1, 2, 9});
  auto coded = boxes;
  coded.encoding = BoxEncoding::dfl;
  EXPECT_FAILS(Decoder::create(model_of({64, 64}, {coded, scores})), "dfl");
  auto product = scores;
  product.score_format = ScoreFormat::obj_x_class;
  EXPECT_FAILS(Decoder::create(model_of({64, 64}, {boxes, product})), "objectness");
  const auto points = output_of(OutputRole::keypoints, {1, 6, 9});
  EXPECT_FALSE(Decoder::create(model_of({64, 64}, {boxes, scores, points})));
  const auto masks = output_of(OutputRole::mask_coefficients, {1, 5, 9});
  EXPECT_FALSE(Decoder::create(model_of({64, 64}, {boxes, scores, masks})));
}

}  // namespace
}  // namespace halyard::test
