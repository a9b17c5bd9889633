// SPDX-License-Identifier: Apache-2.0
// Outputs in parts: levels with strides, and parts that are laid side by side.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "documents.h"

namespace halyard::test {
namespace {

std::string part(const std::string& name, const std::string& type, const std::string& keys) {
  return R"({"name": ")" + name + R"(", "type": ")" + type + R"(", "dtype": "int8", )" + keys + "}";
}

std::string whole(const std::string& type, const std::string& shape, const std::string& parts,
                  const std::string& keys = "") {
  return R"({"type": ")" + type + R"(", "shape": )" + shape + ", " + keys + R"("outputs": [)" +
         parts + "]}";
}

// Two levels of a 96 x 96 input, 3 classes.
std::string boxes_of(const std::string& keys8, const std::string& keys16,
                     const std::string& encoding = R"("encoding": "dfl", )") {
  return whole("boxes", "[1, 4, 180]",
               part("b8", "boxes", keys8) + ", " + part("b16", "boxes", keys16), encoding);
}
std::string scores_of(const std::string& keys8, const std::string& keys16) {
  return whole("scores", "[1, 3, 180]",
               part("s8", "scores", keys8) + ", " + part("s16", "scores", keys16),
               R"("activation_required": "sigmoid", )");
}
const std::string root = R"("input": {"shape": [1, 96, 96, 3]}, )";
const std::string boxes8 = R"("stride": 8, "shape": [1, 12, 12, 64])";
const std::string boxes16 = R"("stride": 16, "shape": [1, 6, 6, 64])";
const std::string scores8 = R"("stride": 8, "shape": [1, 12, 12, 3])";
const std::string scores16 = R"("stride": 16, "shape": [1, 6, 6, 3])";

Result<ModelDescription> levels(const std::string& b8, const std::string& b16,
                                const std::string& s8, const std::string& s16,
                                const std::string& encoding = R"("encoding": "dfl", )") {
  return read_outputs(boxes_of(b8, b16, encoding) + ", " + scores_of(s8, s16), root);
}

TEST(DescriptionLevels, are_read_whole) {
  std::string scales = "0.5";
  for (int i = 1; i < 64; ++i)
    scales += ", 0.25";
  ASSERT_VALUE(const auto d, levels(
                                 R"("stride": [8, 8], "scale_index": 0, "shape": [1, 64, 12, 12],
         "dshape": [{"batch": 1}, {"num_features": 64}, {"height": 12}, {"width": 12}],
         "quantization": {"scale": [)" +
                                     scales + R"(], "zero_point": 3, "axis": 1, "dtype": "int8"})",
                                 R"("stride": 16, "shape": [1, 64, 6, 6],
         "dshape": [["batch", 1], ["num_features", 64], ["height", 6], ["width", 6]])",
                                 R"("stride": 8, "shape": [1, 3, 12, 12],
         "dshape": [["batch", 1], ["num_classes", 3], ["height", 12], ["width", 12]])",
                                 R"("stride": 16, "shape": [1, 3, 6, 6],
         "dshape": [["batch", 1], ["num_classes", 3], ["height", 6], ["width", 6]])"));
  EXPECT_TRUE(d.warnings.empty());
  ASSERT_EQ(d.outputs.size(), 2U);
  const OutputDescription& boxes = d.outputs[0];
  EXPECT_EQ(boxes.encoding, BoxEncoding::dfl);
  EXPECT_EQ(boxes.shape, (std::vector<std::size_t>{1, 4, 180}));
  ASSERT_EQ(boxes.parts.size(), 2U);
  const OutputDescription& level = boxes.parts[0];
  EXPECT_EQ(level.name, "b8");
  EXPECT_EQ(level.role, OutputRole::boxes);
  EXPECT_EQ(level.stride, (Stride{8, 8}));
  EXPECT_EQ(level.dtype, DType::i8);
  EXPECT_EQ(level.axes[1], AxisName::num_features);
  ASSERT_TRUE(level.quantization);
  EXPECT_EQ(level.quantization->axis, 1U);
  EXPECT_EQ(level.quantization->scale_at(0), 0.5F);
  EXPECT_EQ(level.quantization->scale_at(63), 0.25F);
  EXPECT_EQ(level.quantization->zero_point, std::vector<std::int32_t>(64, 3));
  EXPECT_EQ(d.outputs[1].activation, Activation::sigmoid);
}

TEST(DescriptionLevels, come_in_any_order) {
  EXPECT_TRUE(levels(boxes16, boxes8, scores8, scores16));
}

TEST(DescriptionLevels, parts_have_names_and_one_depth) {
  expect_wrong(
      read_outputs(whole("boxes", "[1, 4, 9]", R"({"type": "boxes", "shape": [1, 4, 9]})")),
      "outputs[0].outputs[0].name: \"\", a part needs a name");
  expect_wrong(
      read_outputs(whole("boxes", "[1, 4, 9]", part("", "boxes", R"("shape": [1, 4, 9])"))),
      "a part needs a name");
  expect_wrong(
      read_outputs(whole("boxes", "[1, 4, 9]",
                         part("a", "boxes", R"("shape": [1, 4, 9], "outputs": [{"name": "b"}])"))),
      "outputs[0].outputs[0].outputs: a list of 1, a part must not have parts");
  expect_wrong(read_outputs(whole("boxes", "[1, 4, 9]", "7")), "outputs[0].outputs[0]: 7");
  EXPECT_TRUE(read_outputs(
      whole("boxes", "[1, 4, 9]", part("a", "boxes", R"("shape": [1, 4, 9], "outputs": [])")) +
      R"(, {"type": "scores", "shape": [1, 3, 9]})"));
}

TEST(DescriptionLevels, two_parts_of_one_shape_and_type_are_ambiguous) {
  const std::string half = R"("shape": [1, 2, 9])";
  expect_wrong(read_outputs(whole("boxes", "[1, 4, 9]",
                                  part("a", "boxes", half) + ", " + part("b", "boxes", half))),
               "outputs[0].outputs[1].shape: [1, 2, 9], \"a\" has the same type and shape");
  EXPECT_TRUE(read_outputs(whole("boxes", "[1, 4, 9]",
                                 part("a", "boxes_xy", half) + ", " + part("b", "boxes_wh", half)) +
                           R"(, {"type": "scores", "shape": [1, 3, 9]})"));
}

// `coordinates`: of the second part, of type `type`.
Result<ModelDescription> halves(int coordinates, const char* type = "boxes_wh") {
  const auto keys = [](const char* axis, int count) {
    return fmt::format(R"("shape": [1, {1}, 9, 1], "dshape": [{{"batch": 1}},
        {{"{0}": {1}}}, {{"num_boxes": 9}}, {{"padding": 1}}])",
                       axis, count);
  };
  return read_outputs(
      whole("boxes", "[1, 4, 9, 1]",
            part("a", "boxes_xy", keys("box_coords", 2)) + ", " +
                part("b", type, keys("box_coords", coordinates)),
            R"("dshape": [["batch", 1], ["box_coords", 4], ["num_boxes", 9], ["padding", 1]], )") +
      ", " + part("s", "scores", keys("num_classes", 3)));
}

TEST(DescriptionLevels, centres_and_extents_have_two_coordinates_and_boxes_four) {
  EXPECT_TRUE(halves(2));
  expect_wrong(halves(4), "outputs[0].outputs[1].dshape[1]: 4, box_coords of boxes_wh must be 2");
  expect_wrong(halves(2, "boxes"), "outputs[0].outputs[1].dshape[1]: 2, box_coords must be 4");
}

TEST(DescriptionLevels, all_parts_have_a_stride_or_none) {
  expect_wrong(levels(boxes8, R"("shape": [1, 6, 6, 64])", scores8, scores16),
               "outputs[0].outputs[1].stride: none, all parts must have a stride, or none");
  expect_wrong(levels(boxes8, R"("stride": 8, "shape": [1, 6, 6, 64])", scores8, scores16),
               "outputs[0].outputs[1].stride: 8, \"b8\" has the same stride");
}

TEST(DescriptionLevels, parts_are_of_their_whole) {
  expect_wrong(
      read_outputs(whole("boxes", "[1, 4, 9]", part("a", "scores", R"("shape": [1, 4, 9])"))),
      "outputs[0].outputs[0].type: scores, cannot be a part of boxes");
  expect_wrong(read_outputs(whole("boxes", "[1, 4, 9]",
                                  part("a", "boxes_xy", R"("stride": 8, "shape": [1, 3, 3, 2])"))),
               "parts with a stride must hold whole boxes or scores");
}

TEST(DescriptionLevels, distributions_have_four_sides_of_at_most_64_bins) {
  const auto channels = [](const std::string& count, const std::string& encoding) {
    return levels(R"("stride": 8, "shape": [1, 12, 12, )" + count + "]",
                  R"("stride": 16, "shape": [1, 6, 6, )" + count + "]", scores8, scores16,
                  encoding);
  };
  const std::string dfl = R"("encoding": "dfl", )";
  EXPECT_TRUE(channels("256", dfl));
  expect_wrong(channels("63", dfl),
               "outputs[0].outputs[0].shape[3]: 63, channels of dfl must be a multiple of 4");
  expect_refusal(channels("260", dfl), Errc::unsupported,
                 "outputs[0].outputs[0].shape[3]: 260, at most 64 bins per side");
  expect_wrong(channels("63", ""), "multiple of 4");  // dfl where nothing is said
  expect_wrong(channels("64", R"("encoding": "direct", )"), "64, channels of direct must be 4");
  EXPECT_TRUE(channels("4", R"("encoding": "ltrb", )"));
}

TEST(DescriptionLevels, roles_have_the_same_strides) {
  expect_wrong(levels(boxes8, boxes16, scores8, R"("stride": 32, "shape": [1, 3, 3, 3])"),
               "outputs[1]: strides [8, 32], boxes have the strides [8, 16]");
  expect_wrong(
      read_outputs(boxes_of(boxes8, boxes16) + R"(, {"type": "scores", "shape": [1, 3, 180]})",
                   root),
      "outputs[1]: strides [], boxes have the strides [8, 16]");
}

TEST(DescriptionLevels, tensors_of_one_level_have_the_same_cells_and_order) {
  const auto without_input = [](const std::string& s8) {
    return read_outputs(boxes_of(boxes8, boxes16) + ", " + scores_of(s8, scores16));
  };
  EXPECT_TRUE(without_input(scores8));
  expect_wrong(without_input(R"("stride": 8, "shape": [1, 12, 11, 3])"),
               "outputs[1].outputs[0].shape: [1, 12, 11, 3], must have the same cells as "
               "outputs[0].outputs[0], [1, 12, 12, 64]");
  expect_wrong(without_input(R"("stride": 8, "shape": [1, 3, 12, 12], "dshape":
                            [["batch", 1], ["num_classes", 3], ["height", 12], ["width", 12]])"),
               "must have the same order of axes as outputs[0].outputs[0]");
}

TEST(DescriptionLevels, channels_stand_second_or_last) {
  const auto named = [](const std::string& dshape) {
    return levels(R"("stride": 8, "dshape": )" + dshape, boxes16, scores8, scores16);
  };
  expect_wrong(named(R"([["batch", 1], ["height", 12], ["num_features", 64], ["width", 12]])"),
               "outputs[0].outputs[0].dshape: [1, 12, 64, 12], needs height, width and channels");
  expect_wrong(named(R"([["batch", 1], ["num_boxes", 12], ["num_features", 64], ["width", 12]])"),
               "needs height, width");
  expect_wrong(levels(R"("stride": 8, "shape": [144, 64])", boxes16, scores8, scores16),
               "outputs[0].outputs[0].shape: [144, 64], rank of a level must be 4");
}

TEST(DescriptionLevels, cells_cover_the_input) {
  expect_wrong(
      levels(R"("stride": 8, "shape": [1, 64, 12, 12])", boxes16, scores8, scores16),
      "outputs[0].outputs[0].shape: [1, 64, 12, 12], 64 rows and 12 columns of stride 8 do "
      "not cover an input of 96 x 96; without names the order is batch, height");
}

}  // namespace
}  // namespace halyard::test
