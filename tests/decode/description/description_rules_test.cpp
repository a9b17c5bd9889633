// SPDX-License-Identifier: Apache-2.0
// The rules of descriptions, one test for each: of names, coding and counts of flat outputs.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "documents.h"

namespace halyard::test {
namespace {

Result<ModelDescription> detection(const std::string& keys) {
  return read_outputs(R"({"type": "detection", )" + keys + "}");
}

// Boxes and scores of 2100 boxes, and one more output.
Result<ModelDescription> beside_boxes(const std::string& record) {
  return read_outputs(R"({"type": "boxes", "shape": [1, 4, 2100]},
                         {"type": "scores", "shape": [1, 7, 2100]}, )" +
                      record);
}

Result<ModelDescription> modelpack(const std::string& records) {
  return read_outputs(records);
}

TEST(DescriptionRules, names_cover_the_shape_and_stand_once) {
  expect_wrong(detection(R"("dshape": [["batch", 1], ["batch", 84], ["num_boxes", 9]])"),
               "outputs[0].dshape[0]: batch, named twice");
  EXPECT_TRUE(detection(
      R"("dshape": [["padding", 1], ["padding", 1], ["num_features", 84], ["num_boxes", 9]])"));
  expect_wrong(
      detection(R"("dshape": [["a", 1], ["b", 1], ["num_features", 9], ["num_boxes", 9]])"),
      "rank of detection must be 2..3");
  ModelDescription by_hand;
  by_hand.outputs = {{.shape = {1, 84, 9}, .axes = {AxisName::batch}}};
  expect_wrong(validate(by_hand), "outputs[0].dshape: 1 names, must name every axis");
}

TEST(DescriptionRules, padding_is_1_and_coordinates_are_4) {
  expect_wrong(detection(R"("dshape": [["padding", 2], ["num_features", 84], ["num_boxes", 9]])"),
               "outputs[0].dshape[0]: 2, padding must be 1");
  expect_wrong(read_outputs(R"({"type": "boxes", "dshape": [["box_coords", 5], ["num_boxes", 9]]},
                               {"type": "scores", "shape": [1, 7, 9]})"),
               "outputs[0].dshape[0]: 5, box_coords must be 4");
}

TEST(DescriptionRules, unknown_names_are_warned_of) {
  ASSERT_VALUE(
      const auto d,
      read_outputs(
          R"({"type": "classification", "dshape": [["batch", 1], ["hue", 7], ["shade", 1]]})"));
  EXPECT_EQ(d.outputs[0].axes[1], AxisName::unknown);
  EXPECT_EQ(d.warnings.size(), 2U);
  EXPECT_EQ(d.warnings[0], "outputs[0].dshape[1][1]: unknown name of an axis");
}

TEST(DescriptionRules, ranks_follow_the_role) {
  const auto rank = [](const std::string& type, const std::string& shape) {
    return read_outputs(R"({"type": ")" + type + R"(", "shape": )" + shape + "}");
  };
  expect_wrong(rank("detection", "[1, 1, 84, 8400]"),
               "outputs[0].shape: [1, 1, 84, 8400], rank of detection must be 2..3");
  expect_wrong(rank("boxes", "[1, 4, 1, 9]"), "rank of boxes must be 2..3");
  expect_wrong(rank("scores", "[9]"), "rank of scores must be 2..3");
  expect_wrong(rank("protos", "[160, 160]"), "rank of protos must be 3..4");
  expect_wrong(rank("mask_coefs", "[1, 32, 1, 9]"), "rank of mask_coefs must be 2..3");
  expect_wrong(rank("landmarks", "[1, 51, 1, 9]"), "rank of landmarks must be 2..3");
  EXPECT_TRUE(detection(
      R"("dshape": [["batch", 1], ["num_boxes", 8400], ["padding", 1], ["num_features", 84]])"));
}

TEST(DescriptionRules, roles_have_the_names_they_need) {
  const auto needs = [](const std::string& record, const std::string& words) {
    expect_wrong(read_outputs(record), words);
  };
  needs(R"({"type": "detection", "dshape": [["batch", 1], ["height", 84], ["num_boxes", 9]]})",
        "outputs[0].dshape: detection, needs an axis num_features");
  needs(R"({"type": "boxes", "dshape": [["batch", 1], ["box_coords", 4], ["height", 9]]})",
        "boxes, needs an axis num_boxes");
  needs(R"({"type": "protos", "dshape": [["batch", 1], ["height", 4], ["width", 9], ["x", 32]]})",
        "protos, needs an axis num_protos");
  needs(R"({"type": "segmentation", "dshape": [["batch", 1], ["height", 4], ["num_classes", 9]]})",
        "segmentation, needs an axis width");
  needs(R"({"type": "segmentation", "decoder": "modelpack",
            "dshape": [["padding", 1], ["height", 4], ["width", 4], ["num_classes", 9]]})",
        "rank of segmentation must be 4");
  needs(R"({"type": "segmentation", "decoder": "modelpack",
            "dshape": [["x", 1], ["height", 4], ["width", 4], ["num_classes", 9]]})",
        "segmentation, needs an axis batch");
}

TEST(DescriptionRules, boxes_have_four_coordinates) {
  expect_wrong(read_outputs(R"({"type": "boxes", "shape": [1, 5, 2100]},
                               {"type": "scores", "shape": [1, 7, 2100]})"),
               "outputs[0].shape: [1, 5, 2100], one axis of boxes must be 4");
}

TEST(DescriptionRules, lists_count_the_same_boxes) {
  expect_wrong(read_outputs(R"({"type": "boxes", "shape": [1, 4, 2100]},
                               {"type": "scores", "shape": [1, 7, 2000]})"),
               "outputs[1].shape: [1, 7, 2000], must have as many boxes as outputs[0], "
               "[1, 4, 2100]");
  expect_wrong(beside_boxes(R"({"type": "mask_coefs", "shape": [1, 32, 21]})"),
               "outputs[2].shape: [1, 32, 21], must have as many boxes");
  expect_wrong(beside_boxes(R"({"type": "classes", "shape": [1, 21]})"), "must have as many boxes");
  EXPECT_TRUE(read_outputs(R"({"type": "boxes", "shape": [1, 2100, 4]},
                              {"type": "scores", "shape": [1, 7, 2100]})"))
      << "orders may differ";
}

TEST(DescriptionRules, coefficients_are_as_many_as_prototypes) {
  expect_wrong(
      beside_boxes(R"({"type": "mask_coefs", "shape": [1, 32, 2100]},
                               {"type": "protos", "shape": [1, 160, 160, 30]})"),
      "outputs[2].shape: [1, 32, 2100], must have as many coefficients as there are prototypes in "
      "[1, 160, 160, 30]");
  EXPECT_TRUE(beside_boxes(R"({"type": "mask_coefs", "shape": [1, 2100, 32]},
                              {"type": "protos", "shape": [1, 32, 160, 160]})"));
}

TEST(DescriptionRules, detections_have_more_than_coordinates) {
  expect_wrong(detection(R"("shape": [1, 4, 4])"), "features must be at least 5");
  expect_wrong(detection(R"("dshape": [["num_features", 4], ["num_boxes", 8400]])"),
               "features must be at least 5");
  expect_wrong(detection(R"("score_format": "obj_x_class",
                            "dshape": [["num_features", 5], ["num_boxes", 8400]])"),
               "features must be at least 6");
  expect_wrong(read_outputs(R"({"type": "detection",
                                "dshape": [["num_features", 36], ["num_boxes", 8400]]},
                               {"type": "protos", "shape": [1, 160, 160, 32]})"),
               "features must be at least 37");
  expect_wrong(
      read_outputs(R"({"type": "detection", "dshape": [["num_features", 55], ["num_boxes", 9]]})",
                   R"("kpt_shape": [17, 3], )"),
      "features must be at least 56");
}

TEST(DescriptionRules, keypoints_have_the_features_of_their_shape) {
  const std::string points = R"({"type": "boxes", "shape": [1, 4, 2100]},
                                {"type": "scores", "shape": [1, 1, 2100]},
                                {"type": "landmarks", "shape": [1, 34, 2100]})";
  EXPECT_TRUE(read_outputs(points, R"("kpt_shape": [17, 2], )"));
  expect_wrong(read_outputs(points, R"("kpt_shape": [17, 3], )"),
               "outputs[2].shape: [1, 34, 2100], kpt_shape [17, 3] needs 51 features");
  expect_wrong(read_outputs(R"({"type": "landmarks", "shape": [1, 34, 2100]},
                               {"type": "boxes", "shape": [1, 4, 2100]},
                               {"type": "scores", "shape": [1, 1, 2100]})",
                            R"("kpt_shape": [17, 3], )"),
               "outputs[0].shape: [1, 34, 2100], kpt_shape [17, 3] needs 51 features");
  expect_wrong(read_outputs(points, R"("kpt_shape": [17, 4], )"),
               "kpt_shape[1]: 4, must be at most");
  expect_wrong(read_outputs(points, R"("kpt_shape": [0, 3], )"), "kpt_shape[0]: 0");
  expect_wrong(read_outputs(points, R"("kpt_shape": 17, )"), "kpt_shape: 17, must be [count");
}

TEST(DescriptionRules, modelpack_boxes_have_rank_4) {
  const auto boxes = [](const std::string& shape, const std::string& scores = "[1, 900, 7]") {
    return read_outputs(R"({"type": "boxes", "decoder": "modelpack", "shape": )" + shape +
                        R"(}, {"type": "scores", "decoder": "modelpack", "shape": )" + scores +
                        "}");
  };
  EXPECT_TRUE(boxes("[1, 900, 1, 4]"));
  expect_wrong(boxes("[1, 900, 4]"), "rank of boxes must be 4: batch, num_boxes, padding");
  expect_wrong(boxes("[1, 900, 2, 4]"), "outputs[0].shape[2]: 2, padding must be 1");
  expect_wrong(boxes("[1, 900, 1, 5]"), "outputs[0].shape[3]: 5, box_coords must be 4");
  expect_wrong(boxes("[1, 900, 1, 4]", "[1, 1, 900, 7]"), "rank of scores must be 3");
  expect_wrong(boxes("[1, 900, 1, 4]", "[1, 800, 7]"), "must have as many boxes");
}

TEST(DescriptionRules, grids_fit_their_anchors) {
  const auto grid = [](const std::string& keys) {
    return modelpack(R"({"type": "detection", "decoder": "modelpack", )" + keys + "}");
  };
  const std::string two = R"("anchors": [[0.1, 0.2], [0.3, 0.4]], )";
  EXPECT_TRUE(grid(two + R"("shape": [1, 9, 15, 16])"));
  expect_wrong(grid(R"("shape": [1, 9, 15, 16])"),
               "outputs[0].anchors: none, grids of anchors need at least one");
  expect_wrong(grid(R"("anchors": [], "shape": [1, 9, 15, 16])"), "grids of anchors need");
  expect_wrong(grid(two + R"("shape": [9, 15, 16])"), "rank of detection must be 4");
  expect_wrong(grid(two + R"("shape": [1, 9, 15, 10])"),
               "outputs[0].shape[3]: 10, must be above 5 for each of 2 anchors");
  expect_wrong(grid(two + R"("shape": [1, 9, 15, 17])"),
               "outputs[0].shape[3]: 17, must be a multiple of the 2 anchors");
  const std::string base = R"({"type": "detection", "decoder": "modelpack", )" + two;
  expect_wrong(
      modelpack(base + R"("shape": [1, 9, 15, 16]}, )" + base + R"("shape": [1, 17, 30, 18]})"),
      "outputs[1].shape: [1, 17, 30, 18], 4 classes, outputs[0] has 3");
}

TEST(DescriptionRules, anchors_are_pairs_of_positive_numbers_of_boxes) {
  const auto anchors = [](const std::string& text, const std::string& keys = "") {
    return read_outputs(
        R"({"type": "detection", "decoder": "modelpack", "shape": [1, 9, 15, 8], )" + keys +
        R"("anchors": )" + text + "}");
  };
  expect_wrong(anchors("[[0.1]]"), "outputs[0].anchors[0]: a list of 1, must be [width, height]");
  expect_wrong(anchors("[[0.1, 0]]"), "outputs[0].anchors[0][1]: 0, must be a float above 0");
  expect_wrong(anchors("[[1e60, 1]]"), "outputs[0].anchors[0][0]");
  expect_wrong(anchors("[[0.1, 0.1]]", R"("encoding": "dfl", )"),
               "outputs[0].anchors: dfl, anchors belong to the encoding anchor");
  expect_wrong(read_outputs(R"({"type": "scores", "shape": [1, 7, 9], "anchors": [[1, 1]]})"),
               "outputs[0].anchors: scores, only boxes have anchors");
  ModelDescription by_hand;
  by_hand.outputs = {{.family = Family::modelpack,
                      .shape = {1, 2, 2, 6},
                      .anchors = {{std::numeric_limits<float>::quiet_NaN(), 1}}}};
  expect_wrong(validate(by_hand), "outputs[0].anchors[0]: nan, must be finite");
}

TEST(DescriptionRules, modelpack_segments_the_background_too) {
  const std::string grid = R"({"type": "detection", "decoder": "modelpack",
                               "anchors": [[0.1, 0.2]], "shape": [1, 9, 15, 8]}, )";
  const auto beside = [&](const std::string& classes) {
    return modelpack(grid + R"({"type": "segmentation", "decoder": "modelpack",
                               "shape": [1, 80, 80, )" +
                     classes + "]}");
  };
  EXPECT_TRUE(beside("4"));
  expect_wrong(beside("3"), "3 classes, the 3 of the detections and the background are 4");
}

TEST(DescriptionRules, codings_belong_to_roles) {
  const auto scores = [](const std::string& keys) {
    return read_outputs(R"({"type": "scores", "shape": [1, 7, 9], )" + keys + "}");
  };
  expect_wrong(scores(R"("encoding": "dfl")"), "outputs[0].encoding: dfl, scores have no encoding");
  expect_wrong(
      read_outputs(R"({"type": "boxes", "shape": [1, 4, 9], "score_format": "per_class"})"),
      "outputs[0].score_format: per_class, boxes have no score_format");
  expect_wrong(scores(R"("activation_required": "sigmoid", "activation_applied": "sigmoid")"),
               "outputs[0].activation_required: sigmoid, activation_applied is sigmoid");
  EXPECT_TRUE(scores(R"("activation_required": "sigmoid", "activation_applied": "none")"));
  expect_wrong(detection(R"("shape": [1, 9, 20], "encoding": "prior")"),
               "outputs[0].encoding: prior, belongs to decoder ssd, not ultralytics");
  expect_refusal(read_outputs(R"({"type": "boxes", "shape": [1, 64, 2100], "encoding": "dfl"})"),
                 Errc::unsupported, "outputs[0].encoding: dfl, distributions need parts");
}

TEST(DescriptionRules, units_belong_to_boxes) {
  ASSERT_VALUE(const auto d,
               read_outputs(R"({"type": "scores", "shape": [1, 7, 9], "normalized": true})"));
  EXPECT_FALSE(d.outputs[0].box_units);
  EXPECT_EQ(d.warnings.size(), 1U);
}

TEST(DescriptionRules, floats_are_not_quantized) {
  ASSERT_VALUE(const auto d, detection(
                                 R"("shape": [1, 9, 20], "dtype": "float32",
         "quantization": {"scale": 0.5, "dtype": "float32"})"));
  EXPECT_FALSE(d.outputs[0].quantization);
  EXPECT_EQ(d.warnings.size(), 1U);
  EXPECT_TRUE(detection(R"("shape": [1, 9, 20], "quantization": {"scale": 1, "dtype": "float16"})")
                  ->warnings.empty());
}

TEST(DescriptionRules, strides_are_positive_and_stand_once) {
  const auto strides = [](const std::string& text) {
    return read_outputs(R"({"type": "detection", "decoder": "nanodet", "shape": [1, 2100, 112], )" +
                        text + "}");
  };
  EXPECT_EQ(strides(R"("strides": [8, 16, 32])")->outputs[0].strides.size(), 3U);
  expect_wrong(strides(R"("strides": [8, 0])"), "outputs[0].strides[1]: 0");
  expect_wrong(strides(R"("strides": [8, 16, 8])"), "outputs[0].strides[2]: 8, appears twice");
  expect_wrong(strides(R"("stride": 0)"), "outputs[0].stride: 0");
  expect_wrong(strides(R"("stride": [8])"), "outputs[0].stride: a list of 1, must be a number or");
  EXPECT_EQ(strides(R"("stride": [8, 16])")->outputs[0].stride, (Stride{8, 16}));
}

TEST(DescriptionRules, names_and_roles_stand_once) {
  expect_wrong(read_outputs(R"({"name": "a", "type": "boxes", "shape": [1, 4, 9]},
                               {"name": "a", "type": "scores", "shape": [1, 7, 9]})"),
               "outputs[1].name: a, is also the name of outputs[0]");
  expect_wrong(beside_boxes(R"({"type": "scores", "shape": [1, 8, 2100]})"),
               "outputs[2].type: scores, outputs[1] has the same type: ambiguous");
}

TEST(DescriptionRules, shapes_made_by_hand_are_checked) {
  const auto with_shape = [](std::vector<std::size_t> shape) {
    ModelDescription d;
    d.outputs = {{.role = OutputRole::auxiliary, .shape = std::move(shape)}};
    return validate(d);
  };
  const std::size_t half = std::size_t{1} << 31;
  expect_wrong(with_shape({}), "outputs[0].shape: [], must not be empty");
  expect_wrong(with_shape({1, 0}), "outputs[0].shape[1]: 0, must be 1..2147483647");
  expect_wrong(with_shape({half}), "outputs[0].shape[0]: 2147483648");
  expect_wrong(with_shape({half - 1, half - 1, half - 1}), "too many elements");
  expect_wrong(with_shape(std::vector<std::size_t>(9, 1)), "at most 8 axes");
  EXPECT_TRUE(with_shape({1, 84, 8400}));
}

TEST(DescriptionRules, roots_made_by_hand_are_checked) {
  const auto with = [](auto change) {
    ModelDescription d;
    d.outputs = {{.shape = {1, 84, 8400}}};
    change(d);
    return validate(d);
  };
  using D = ModelDescription;
  EXPECT_TRUE(with([](D&) {}));
  expect_wrong(with([](D& d) { d.outputs.clear(); }), "outputs: [], must not be empty");
  expect_wrong(with([](D& d) { d.input = {-1, 4}; }), "input: -1 x 4, must not be negative");
  expect_wrong(with([](D& d) { d.keypoints = KeypointShape{0, 3}; }), "kpt_shape[0]");
  expect_wrong(with([](D& d) { d.keypoints = KeypointShape{17, 4}; }), "kpt_shape[1]: 4");
  expect_wrong(with([](D& d) { d.labels.resize(100001); }), "labels: 100001, at most 100000");
  expect_wrong(with([](D& d) { d.outputs.resize(5000, d.outputs[0]); }), "outputs: 5000, at most");
  expect_wrong(with([](D& d) { d.outputs[0].role = OutputRole::boxes_xy; }),
               "must be a part of boxes");
  expect_wrong(with([](D& d) { d.outputs[0].stride = Stride{0, 8}; }), "outputs[0].stride: [0, 8]");
  expect_refusal(with([](D& d) { d.decoder_version = "yolo3"; }), Errc::unsupported,
                 "decoder_version: \"yolo3\"");
  expect_wrong(with([](D& d) { d.outputs[0].quantization = Quantization{}; }),
               "quantization.scale: must not be empty: outputs[0]");
  expect_wrong(with([](D& d) {
                 d.outputs[0].quantization = Quantization{{1, 2}, {}, {}};
               }),
               "quantization.axis: several scales need an axis: outputs[0]");
}

}  // namespace
}  // namespace halyard::test
