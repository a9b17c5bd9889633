// SPDX-License-Identifier: Apache-2.0
// The examples of docs/description.md are read, and its code runs.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>

#include "halyard/decode.h"
#include "halyard/describe.h"
#include "support/result.h"
#include "test_paths.h"

namespace halyard {
namespace {

Result<Decoder> describe_my_network() {
  HALYARD_TRY(ModelDescription model,
              describe_model("yolo11-seg", {.input = {416, 416}, .labels = {"boat", "buoy"}}));
  model.outputs[0].dtype = DType::i8;
  model.outputs[0].quantization = Quantization::per_tensor(0.0078125F, -128);
  return Decoder::create(std::move(model), {.score_threshold = 0.4F});
}

TEST(Page, documents_of_the_page_are_read_without_a_warning) {
  std::ifstream in(std::string(HALYARD_SOURCE_DIR) + "/docs/description.md");
  const std::string page(std::istreambuf_iterator<char>(in), {});
  std::size_t count = 0;
  for (const std::string language : {"json", "yaml"}) {
    const std::string fence = "```" + language + "\n";
    for (auto at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
      at += fence.size();
      const std::string text = page.substr(at, page.find("```", at) - at);
      const auto d = language == "json" ? ModelDescription::from_json(text)
                                        : ModelDescription::from_yaml(text);
      ASSERT_TRUE(d) << d.error().message() << text;
      EXPECT_TRUE(d->warnings.empty()) << text;
      EXPECT_TRUE(arrangement_of(*d)) << text;
      ASSERT_VALUE(const auto again, ModelDescription::from_json(d->to_json()));
      EXPECT_EQ(again, *d);
      ++count;
    }
  }
  EXPECT_EQ(count, 3U);
}

TEST(Page, code_of_the_page_runs) {
  ASSERT_VALUE(const auto decoder, describe_my_network());
  EXPECT_EQ(decoder.class_count(), 2U);
}

TEST(Page, explain_tells_sources_and_what_was_passed_over) {
  ModelMetadata metadata;
  metadata.file = "boats.onnx";
  metadata.outputs = {{"out", DType::f32, {1, 6, 8400}, {}, {}}};
  metadata.metadata = {{"names", "{0: 'boat', 1: 'buoy'}"}, {"imgsz", "big"}};
  ASSERT_VALUE(auto model, infer_description(metadata));
  ASSERT_VALUE(const auto decoder, Decoder::create(std::move(model)));
  for (const char* words : {"labels: from metadata \"names\" of boats.onnx",
                            "warning: metadata \"imgsz\" of boats.onnx: ignored"})
    EXPECT_NE(decoder.explain().find(words), std::string::npos) << decoder.explain();
}

}  // namespace
}  // namespace halyard
