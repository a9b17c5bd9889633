// SPDX-License-Identifier: Apache-2.0
// Descriptions whose documents would be beyond the limits: refused, so that what is written is
// always read again.
#include <gtest/gtest.h>

#include <string>

#include "documents.h"
#include "halyard/describe.h"

namespace halyard::test {
namespace {

ModelDescription with_labels(std::vector<std::string> labels) {
  ModelDescription out;
  OutputDescription& detection = out.outputs.emplace_back();
  detection.shape = {1, 84, 8400};
  out.labels = std::move(labels);
  return out;
}

// Parts that are not decoded: the smallest records there are.
ModelDescription with_parts(std::size_t count) {
  ModelDescription out = with_labels({});
  while (count > 0) {
    OutputDescription& output = out.outputs.emplace_back();
    output.role = OutputRole::auxiliary;
    output.shape = {1};
    for (std::size_t i = 0; i < DocumentLimits::outputs && count > 0; ++i, --count) {
      OutputDescription& part = output.parts.emplace_back();
      part.role = OutputRole::auxiliary;
      part.shape = {1};
    }
  }
  return out;
}

TEST(DescriptionSize, a_document_is_as_long_as_is_read) {
  const std::size_t others = with_labels({""}).to_json().size();
  std::string label(DocumentLimits::json_bytes - others, 'x');
  const auto longest = with_labels({label});
  ASSERT_EQ(longest.to_json().size(), DocumentLimits::json_bytes);
  EXPECT_TRUE(validate(longest));
  ASSERT_VALUE(const auto read, ModelDescription::from_json(longest.to_json()));
  EXPECT_EQ(read.labels, longest.labels);
  label += 'x';
  expect_refusal(validate(with_labels({label})), Errc::exhausted, "for 1 labels, at most 4 MiB");
}

TEST(DescriptionSize, escapes_count) {
  const std::string quiet(DocumentLimits::json_bytes / 6, '\x01');
  EXPECT_FALSE(validate(with_labels({quiet})));
  expect_refusal(ModelDescription::from_yaml(
                     "outputs: [{type: detection, shape: [1, 84, 8400]}]\nlabels: [\"" +
                     std::string(DocumentLimits::json_bytes / 6, '\a') + "\"]"),
                 Errc::exhausted, "at most 4 MiB");
  EXPECT_TRUE(validate(with_labels({quiet.substr(0, quiet.size() / 2)})));
}

TEST(DescriptionSize, labels_beside_a_model_are_refused_with_the_limit) {
  ModelMetadata metadata;
  metadata.file = "yolov8n.onnx";
  metadata.format = ModelFormat::onnx;
  metadata.outputs.push_back({"output0", DType::f32, {1, 84, 8400}, {}, {}});
  std::string lines;
  for (int i = 0; i < 80; ++i)
    lines += std::string(10000, '\x02') + "\n";
  metadata.attachments.push_back({"labels.txt", lines, false});
  expect_refusal(infer_description(metadata), Errc::exhausted, "for 80 labels, at most 4 MiB");
  metadata.attachments[0].text = lines.substr(0, 0);
  for (int i = 0; i < 80; ++i)
    metadata.attachments[0].text += std::string(5000, '\x02') + "\n";
  ASSERT_VALUE(const auto fits, infer_description(metadata));
  EXPECT_TRUE(ModelDescription::from_json(fits.to_json()));
}

TEST(DescriptionSize, values_are_counted_as_they_are_written) {
  const auto maximum = with_parts(30000);
  EXPECT_TRUE(validate(maximum));
  EXPECT_TRUE(ModelDescription::from_json(maximum.to_json()));
  expect_refusal(validate(with_parts(33000)), Errc::exhausted, "values, at most 131072");
  EXPECT_FALSE(ModelDescription::from_json(with_parts(33000).to_json()));
}

}  // namespace
}  // namespace halyard::test
