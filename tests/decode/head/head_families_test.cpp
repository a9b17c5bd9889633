// SPDX-License-Identifier: Apache-2.0
// Every family that has a name decodes, and gives what its name says.
#include <gtest/gtest.h>

#include <random>

#include "decode/nms/selector.h"
#include "decode/tensors.h"
#include "halyard/decode.h"
#include "halyard/describe.h"
#include "halyard/semantic.h"
#include "support/result.h"

namespace halyard::test {
namespace {

// Small, so that sanitizers get through it.
PresetOptions options_for(std::string_view family) {
  PresetOptions options{.input = {128, 96}};
  if (family == "modelpack-split") options.anchors = {{{0.1F, 0.2F}}, {{0.3F, 0.4F}, {0.5F, 0.5F}}};
  return options;
}

std::vector<Tensor> random_outputs(const ModelDescription& description) {
  std::mt19937 random(3);
  std::vector<Tensor> out;
  for (const OutputDescription& output : description.outputs) {
    std::size_t count = 1;
    for (const std::size_t extent : output.shape)
      count *= extent;
    std::vector<float> values(count);
    for (float& v : values)
      v = std::uniform_real_distribution<float>(0.1F, 0.9F)(random);
    out.push_back(tensor_of<float>(output.shape, values));
  }
  return out;
}

void expect_map(const ModelDescription& description, const std::vector<Tensor>& outputs) {
  EXPECT_FAILS(Decoder::create(description), Errc::unsupported);
  const SemanticOptions options{.layout =
                                    description.outputs[0].axes.back() == AxisName::num_classes
                                        ? SemanticLayout::classes_last
                                        : SemanticLayout::classes_first};
  Tensor map = *Tensor::create(DType::u8, {96, 128}, Memory::mem);
  EXPECT_OK(semantic_map(outputs[0], options, map));
}

void expect_parts(std::string_view family, const ModelDescription& description,
                  const std::vector<Tensor>& outputs) {
  DecodeOptions options;
  options.score_threshold = 0.005F;  // of noise among 91 classes
  ASSERT_VALUE(const auto decoder, Decoder::create(description, options));
  Decoded out;
  ASSERT_OK(decoder.decode_into(outputs, out));
  const std::size_t count = out.detections.size();
  if (family.ends_with("-cls")) {
    EXPECT_EQ(out.classes.size(), options.top_classes);
    EXPECT_EQ(count, 0U);
    return;
  }
  if (!family.starts_with("yolo26")) {  // rows of noise are hardly ever boxes
    EXPECT_GE(count, 1U);
  }
  EXPECT_LE(count, options.max_detections);
  EXPECT_EQ(out.keypoints_each, family.ends_with("-pose") ? 17U : 0U);
  EXPECT_EQ(out.keypoints.size(), count * out.keypoints_each);
  EXPECT_EQ(out.rotated.size(), family.ends_with("-obb") ? count : 0U);
  EXPECT_EQ(out.masks.channels, family.ends_with("-seg") ? 32U : 0U);
  EXPECT_EQ(out.masks.size(), family.ends_with("-seg") ? count : 0U);
}

TEST(Families, all_decode_and_give_what_their_names_say) {
  EXPECT_EQ(model_families().size(), 29U);
  for (const std::string_view family : model_families()) {
    SCOPED_TRACE(family);
    ASSERT_VALUE(const auto description, describe_model(family, options_for(family)));
    const auto outputs = random_outputs(description);
    if (description.outputs[0].role == OutputRole::segmentation)
      expect_map(description, outputs);
    else
      expect_parts(family, description, outputs);
  }
}

}  // namespace
}  // namespace halyard::test
