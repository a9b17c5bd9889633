// SPDX-License-Identifier: Apache-2.0
// Description documents: what is read, what is passed over, and what is refused with its path.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "documents.h"
#include "halyard/decode.h"
#include "support/folder.h"
#include "test_paths.h"

namespace halyard::test {
namespace {

// One example per schema; docs/description.md shows the same text, and a test below compares.
constexpr const char* v1_yaml = R"(decoder_version: yolov8
nms: class_aware
input: {shape: [1, 640, 640, 3]}
labels: [boat, buoy, gull]
outputs:
  - type: detection
    shape: [1, 7, 8400]
    dshape: [[batch, 1], [num_features, 7], [num_boxes, 8400]]
    quantization: [0.00390625, -128]
    normalized: true
)";

constexpr const char* v2_json = R"({
  "schema_version": 2,
  "decoder_version": "yolo11",
  "nms": "class_agnostic",
  "input": {"shape": [1, 3, 480, 640],
            "dshape": [{"batch": 1}, {"num_features": 3}, {"height": 480}, {"width": 640}]},
  "outputs": [
    {"name": "output0", "type": "detection", "decoder": "ultralytics", "encoding": "direct",
     "shape": [1, 6300, 84],
     "dshape": [{"batch": 1}, {"num_boxes": 6300}, {"num_features": 84}],
     "dtype": "int8", "normalized": false,
     "quantization": {"scale": 2.5, "zero_point": -128, "dtype": "int8"}},
    {"name": "features", "shape": [1, 256]}
  ]
}
)";

Result<ModelDescription> with_output(const std::string& keys) {
  return read_outputs("{" + keys + "}");
}

Result<ModelDescription> with_shape(const std::string& shape) {
  return with_output(R"("type": "detection", "shape": )" + shape);
}

Result<ModelDescription> with_detection(const std::string& keys) {
  return with_output(R"("type": "detection", "shape": [1, 84, 8400], )" + keys);
}

Result<ModelDescription> with_root(const std::string& keys) {
  return ModelDescription::from_json(
      R"({"outputs": [{"type": "detection", "shape": [1, 84, 8400]}], )" + keys + "}");
}

TEST(Description, reads_version_1) {
  ASSERT_VALUE(const auto d, ModelDescription::from_yaml(v1_yaml));
  EXPECT_EQ(d.decoder_version, "yolov8");
  EXPECT_EQ(d.nms, Nms::class_aware);
  EXPECT_EQ(d.input, (Size{640, 640}));
  EXPECT_EQ(d.labels, (std::vector<std::string>{"boat", "buoy", "gull"}));
  ASSERT_EQ(d.outputs.size(), 1U);
  const OutputDescription& out = d.outputs[0];
  EXPECT_EQ(out.role, OutputRole::detection);
  EXPECT_EQ(out.shape, (std::vector<std::size_t>{1, 7, 8400}));
  EXPECT_EQ(out.axes,
            (std::vector<AxisName>{AxisName::batch, AxisName::num_features, AxisName::num_boxes}));
  EXPECT_EQ(out.quantization, Quantization::per_tensor(0.00390625F, -128));
  EXPECT_EQ(out.box_units, BoxUnits::fraction);
  EXPECT_EQ(Decoder::create(d)->class_count(), 3U);
}

TEST(Description, reads_version_2) {
  ASSERT_VALUE(const auto d, ModelDescription::from_json(v2_json));
  EXPECT_EQ(d.decoder_version, "yolo11");
  EXPECT_EQ(d.nms, Nms::class_agnostic);
  EXPECT_EQ(d.input, (Size{640, 480}));
  ASSERT_EQ(d.outputs.size(), 2U);
  EXPECT_EQ(d.outputs[0].name, "output0");
  EXPECT_EQ(d.outputs[0].axes[1], AxisName::num_boxes);
  EXPECT_EQ(d.outputs[0].quantization, Quantization::per_tensor(2.5F, -128));
  EXPECT_EQ(d.outputs[0].box_units, BoxUnits::pixels);
  EXPECT_EQ(d.outputs[1].role, OutputRole::auxiliary);  // auxiliary
  EXPECT_EQ(Decoder::create(d)->class_count(), 80U);
}

TEST(Description, json_is_yaml_too) {
  ASSERT_VALUE(const auto d, ModelDescription::from_yaml(v2_json));
  EXPECT_EQ(d.input, (Size{640, 480}));
}

TEST(Description, examples_of_the_page_are_these) {
  std::ifstream in(std::string(HALYARD_SOURCE_DIR) + "/docs/description.md");
  const std::string page(std::istreambuf_iterator<char>(in), {});
  EXPECT_NE(page.find(v1_yaml), std::string::npos);
  EXPECT_NE(page.find(v2_json), std::string::npos);
}

TEST(Description, passes_over_unknown_keys_and_nulls) {
  EXPECT_TRUE(with_root(R"("name": "x", "dataset": {"a": [1, {"b": 2}]}, "nms": null)"));
  EXPECT_TRUE(
      with_detection(R"("stride": 8, "anchors": null, "quantization": null, "outputs": [])"));
  ASSERT_VALUE(const auto d,
               with_root(R"("author": "x", "input": {"shape": [1, 2, 2, 3], "Mean": 0})"));
  EXPECT_EQ(d.warnings, (std::vector<std::string>{"\"author\": unknown key, ignored",
                                                  "input.\"Mean\": unknown key, ignored"}));
  EXPECT_EQ(with_detection(R"("quantization": {"scale": 1, "units": 2}, "dhsape": 1)")->warnings,
            (std::vector<std::string>{"outputs[0].\"dhsape\": unknown key, ignored",
                                      "outputs[0].quantization.\"units\": unknown key, ignored"}));
}

TEST(Description, counts_the_warnings_that_it_does_not_list) {
  std::string keys;
  for (int i = 0; i < 130; ++i)
    keys += (i == 0 ? "\"k" : ", \"k") + std::to_string(i) + "\": 0";
  ASSERT_VALUE(const auto d, with_root(keys));
  EXPECT_EQ(d.warnings.size(), 101U);
  EXPECT_EQ(d.warnings.back(), "30 more");
}

TEST(Description, takes_the_shape_from_dshape_alone) {
  ASSERT_VALUE(const auto d, read_outputs(R"({"type": "detection", "dshape":
      [["batch", 1], ["num_features", 9], ["num_boxes", 20]]})"));
  EXPECT_EQ(d.outputs[0].shape, (std::vector<std::size_t>{1, 9, 20}));
}

TEST(Description, reads_the_input_size_in_both_orders) {
  const auto size = [](const std::string& shape) {
    const auto d = with_root(R"("input": {"shape": )" + shape + "}");
    EXPECT_TRUE(d) << d.error().message();
    return d->input;
  };
  EXPECT_EQ(size("[1, 480, 640, 3]"), (Size{640, 480}));
  EXPECT_EQ(size("[1, 3, 480, 640]"), (Size{640, 480}));
  EXPECT_EQ(size("[1, 1, 96, 128]"), (Size{128, 96}));
  EXPECT_EQ(size("[1, 4, 4, 3]"), (Size{4, 4}));  // both could be channels: the last is
  EXPECT_EQ(size("[640, 640]"), (Size{0, 0}));    // unknown
  EXPECT_EQ(with_root(R"("input": {"shape": [1, 3, 32, 64],
                          "dshape": [{"batch": 1}, {"height": 3}, {"width": 32}, {"x": 64}]})")
                ->input,
            (Size{32, 3}));
}

TEST(Description, names_the_path_of_every_wrong_value) {
  expect_wrong(with_shape("[1, 0, 8400]"), "outputs[0].shape[1]: 0, must be at least 1");
  expect_wrong(with_shape("[1, -5]"), "outputs[0].shape[1]: -5");
  expect_wrong(with_shape("[1, 2.5]"), "outputs[0].shape[1]: 2.5, must be a whole number");
  expect_wrong(with_shape("[18446744073709551615]"), "must be at most 2147483647");
  expect_wrong(with_shape("\"84\""), "outputs[0].shape: \"84\", must be a list");
  expect_wrong(with_shape("[]"), "outputs[0].shape: a list of 0, must not be empty");
  expect_wrong(with_shape("[1,1,1,1,1,1,1,1,1]"), "outputs[0].shape: a list of 9, at most 8");
  expect_wrong(with_output(R"("type": "detection")"), "outputs[0]: a map, shape is required");
  expect_wrong(with_output(R"("type": 3)"), "outputs[0].type: 3");
  expect_wrong(with_detection(R"("name": [])"), "outputs[0].name");
  expect_wrong(with_detection(R"("normalized": 1)"),
               "outputs[0].normalized: 1, must be true or false");
  expect_wrong(with_root(R"("nms": "soft")"), "nms: \"soft\", must be auto");
  expect_wrong(with_root(R"("labels": ["a", 1])"), "labels[1]: 1");
  expect_wrong(with_root(R"("schema_version": 0)"), "schema_version: 0");
  expect_wrong(with_root(R"("input": [])"), "input: a list of 0");
  expect_wrong(with_root(R"("input": {})"), "input: a map, shape is required");
}

TEST(Description, names_the_path_of_wrong_dshapes) {
  const auto dshape = [](const std::string& text) {
    return with_detection(R"("dshape": )" + text);
  };
  expect_wrong(dshape(R"([["batch", 1], ["num_features", 85], ["num_boxes", 8400]])"),
               "outputs[0].shape[1]: 84, dshape has 85");
  expect_wrong(dshape(R"([["batch", 1], ["num_features", 84]])"),
               "outputs[0].shape: a list of 3, dshape has 2 axes");
  expect_wrong(dshape(R"([["batch", 1, 2]])"), "outputs[0].dshape[0]");
  expect_wrong(dshape(R"([{"batch": 1, "height": 2}])"), "[name, extent]");
  expect_wrong(dshape("3"), "outputs[0].dshape: 3");
}

TEST(Description, names_the_path_of_wrong_quantization) {
  const auto quantization = [](const std::string& text) {
    return with_detection(R"("quantization": )" + text);
  };
  EXPECT_TRUE(quantization(R"({"scale": [0.5], "zero_point": [3]})"));
  EXPECT_TRUE(quantization(R"({"scale": 0.5})"));
  expect_wrong(quantization("[0.1]"), "must be [scale, zero_point]");
  expect_wrong(quantization("[0, 1]"), "outputs[0].quantization[0]: 0");
  expect_wrong(quantization("[-1, 1]"), "above 0");
  expect_wrong(quantization("[1e300, 1]"), "above 0");
  expect_wrong(quantization("[1e-300, 1]"), "above 0");
  expect_wrong(quantization("[0.1, 0.5]"), "whole number");
  expect_wrong(quantization("[0.1, 3000000000]"), "at most 2147483647");
  expect_wrong(quantization("{}"), "needs scale");
  expect_wrong(quantization("7"), "outputs[0].quantization: 7");
  expect_wrong(quantization(R"({"scale": []})"), "must not be empty");
  expect_wrong(quantization(R"({"scale": 1, "zero_point": [1, 2]})"), "more zero points");
  expect_wrong(quantization(R"({"scale": [1, 2]})"),
               "outputs[0].quantization: a map, 2 scales need axis");
  expect_wrong(quantization(R"({"scale": [1, 2], "axis": 1})"),
               "outputs[0]: 2 scales, axis 1 has extent 84");
  expect_wrong(quantization(R"({"scale": [1, 2], "axis": 7})"), "7 of rank 3");
  expect_wrong(quantization(R"({"scale": [1, 2], "zero_point": [0], "axis": 1})"),
               "outputs[0].quantization.zero_point: a list of 1, fewer");
  expect_wrong(with_detection(R"("dtype": "uint8", "quantization": [1, 300])"),
               "outputs[0]: zero_point[0] = 300, u8 holds 0..255");
  expect_wrong(with_detection(R"("dtype": "int8", "quantization": {"scale": 1, "dtype": "uint8"})"),
               "outputs[0].quantization.dtype: \"uint8\", dtype of the tensor is i8");
  expect_refusal(with_detection(R"("dtype": "int7")"), Errc::unsupported,
                 "outputs[0].dtype: \"int7\"");
}

TEST(Description, refuses_words_it_does_not_know) {
  using enum Errc;
  expect_refusal(with_output(R"("shape": [1], "type": "soup")"), unsupported,
                 "outputs[0].type: \"soup\", must be detection");
  expect_refusal(with_output(R"("shape": [1], "type": "")"), unsupported, "outputs[0].type: \"\"");
  expect_refusal(with_detection(R"("decoder": "soup")"), unsupported, "outputs[0].decoder");
  expect_refusal(with_detection(R"("encoding": "soup")"), unsupported, "outputs[0].encoding");
  expect_refusal(with_detection(R"("score_format": "soup")"), unsupported, "score_format");
  expect_refusal(with_detection(R"("activation_required": "soup")"), unsupported,
                 "outputs[0].activation_required: \"soup\", must be none, sigmoid");
  expect_refusal(with_detection(R"("activation_applied": "soup")"), unsupported, "applied");
  expect_refusal(with_root(R"("decoder_version": "yolo3")"), unsupported,
                 "decoder_version: \"yolo3\", must be yolov5");
  expect_refusal(with_root(R"("schema_version": 3)"), unsupported, "schema_version: 3");
  EXPECT_TRUE(with_detection(R"("decoder": "yolov8", "encoding": "ltrb",
                                "activation_applied": "sigmoid", "score_format": "per_class")"));
}

TEST(Description, refuses_documents_without_outputs_or_types) {
  expect_wrong(ModelDescription::from_json("{}"), "document: a map, needs outputs");
  expect_wrong(ModelDescription::from_json("[]"), "document: a list of 0");
  expect_wrong(ModelDescription::from_json("null"), "document: null");
  expect_wrong(ModelDescription::from_json(R"({"outputs": []})"), "outputs");
  expect_wrong(ModelDescription::from_json(R"({"outputs": [7]})"), "outputs[0]: 7");
  expect_wrong(ModelDescription::from_json(R"({"outputs": [{"shape": [1]}]})"),
               "outputs[0]: a map, needs type");
  expect_wrong(ModelDescription::from_yaml(""), "document: null");
}

TEST(Description, every_prefix_of_a_document_is_refused_without_harm) {
  const std::string json = v2_json;
  for (std::size_t n = 0; n + 2 < json.size(); ++n)
    EXPECT_FALSE(ModelDescription::from_json(json.substr(0, n))) << n;
  const std::string yaml = v1_yaml;
  for (std::size_t n = 0; n < yaml.size(); ++n)
    (void)ModelDescription::from_yaml(yaml.substr(0, n));
}

TEST(Description, yaml_scalars_are_typed_as_json_ones) {
  const auto quoted =
      ModelDescription::from_yaml("outputs: [{type: 'detection', shape: ['1', 84]}]");
  expect_wrong(quoted, "outputs[0].shape[0]: \"1\"");
  ASSERT_VALUE(
      const auto plain,
      ModelDescription::from_yaml(
          "outputs: [{type: detection, shape: [1, +84, 9], normalized: False, quantization: ~}]"));
  EXPECT_EQ(plain.outputs[0].box_units, BoxUnits::pixels);
}

TEST(Description, reads_files_by_extension) {
  const Folder folder;
  const std::string base = folder / "description";
  for (const char* extension : {".json", ".JSON"}) {
    std::ofstream(base + extension) << v2_json;
    EXPECT_TRUE(ModelDescription::from_file(base + extension)) << extension;
  }
  for (const char* extension : {".yaml", ".yml"}) {
    std::ofstream(base + extension) << v1_yaml;
    EXPECT_TRUE(ModelDescription::from_file(base + extension)) << extension;
  }
  expect_wrong(ModelDescription::from_file(base + ".txt"), ".json, .yaml");
  expect_wrong(ModelDescription::from_file("noextension"), "noextension");
  EXPECT_FAILS(ModelDescription::from_any_file(base + ".txt"), Errc::not_found);
  for (const char* text : {v2_json, v1_yaml}) {
    std::ofstream(base + ".txt") << text;
    EXPECT_OK(ModelDescription::from_any_file(base + ".txt"));
  }
  std::ofstream(base + "_yaml.json") << v1_yaml;
  EXPECT_FAILS(ModelDescription::from_any_file(base + "_yaml.json"), Errc::malformed);
  expect_refusal(ModelDescription::from_file(base + "_none.json"), Errc::not_found, "_none.json");
  std::ofstream(base + "_big.json") << std::string(DocumentLimits::json_bytes + 1, ' ');
  expect_refusal(ModelDescription::from_file(base + "_big.json"), Errc::exhausted, "4 MiB");
}

}  // namespace
}  // namespace halyard::test
