// SPDX-License-Identifier: Apache-2.0
// Texts of documents: broken ones, endless ones, and keys that stand twice.
#include <gtest/gtest.h>

#include <string>

#include "documents.h"

namespace halyard::test {
namespace {

constexpr const char* smallest = R"({"outputs": [{"type": "detection", "shape": [1, 84, 8400]}], )";

Result<ModelDescription> json_with(const std::string& keys) {
  return ModelDescription::from_json(smallest + keys + "}");
}

// Lists of ten, nested by aliases: 10^levels values.
std::string bomb(char last) {
  std::string text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < last; ++c) {
    text += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i)
      text += std::string(i == 0 ? "*" : ", *") + static_cast<char>(c - 1);
    text += "]\n";
  }
  return text;
}

TEST(DescriptionText, nesting_has_a_limit) {
  using enum Errc;
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  // The root and the key's list count too.
  EXPECT_TRUE(json_with(R"("x": )" + nested(DocumentLimits::depth - 1)));
  expect_refusal(json_with(R"("x": )" + nested(DocumentLimits::depth + 1)), malformed,
                 "lists and maps nest deeper than 64");
  expect_refusal(ModelDescription::from_json(std::string(1000000, '[')), malformed, "deeper");
  std::string maps;
  for (int i = 0; i < 1000; ++i)
    maps += R"({"a":)";
  expect_refusal(ModelDescription::from_json(maps), malformed, "deeper");
  expect_refusal(ModelDescription::from_yaml(nested(100)), malformed, "deeper than 64");
  expect_refusal(ModelDescription::from_yaml(std::string(100000, '[')), malformed, "YAML");
  expect_refusal(ModelDescription::from_yaml("a: &a [*a]"), malformed, "deeper");
}

TEST(DescriptionText, values_are_counted_after_aliases) {
  using enum Errc;
  expect_refusal(ModelDescription::from_yaml(bomb('k')), malformed, "more than 131072 values");
  expect_refusal(ModelDescription::from_yaml(bomb('g')), malformed, "values");
  expect_refusal(ModelDescription::from_yaml(bomb('d')), invalid_argument, "needs outputs");
  std::string list = R"("x": [)";
  for (std::size_t i = 0; i < DocumentLimits::nodes; ++i)
    list += "0,";
  expect_refusal(json_with(list + "0]"), malformed, "more than 131072 values");
  const std::string values = list.substr(list.find('['));
  expect_refusal(ModelDescription::from_yaml(values + "0]"), malformed, "more than 131072 values");
  expect_refusal(ModelDescription::from_yaml(values + values.substr(1) + "0]"), malformed,
                 "more than 131072 values");
}

TEST(DescriptionText, texts_are_measured_after_aliases) {
  using enum Errc;
  const std::string text = "a: &a " + std::string(std::size_t{1} << 16, 'x') + "\nb: [";
  std::string values = text;
  std::string keys = text;
  for (int i = 0; i < 65; ++i) {
    values += "*a, ";
    keys += "{*a : 1}, ";
  }
  expect_refusal(ModelDescription::from_yaml(values + "0]"), malformed,
                 "more than 4 MiB of texts, aliases resolved");
  expect_refusal(ModelDescription::from_yaml(keys + "0]"), malformed,
                 "more than 4 MiB of texts, aliases resolved");
  expect_refusal(ModelDescription::from_yaml(text + "*a]"), invalid_argument, "needs outputs");
}

TEST(DescriptionText, messages_are_short_however_long_the_text) {
  const std::string text(100000, 'x');
  for (const auto& broken :
       {ModelDescription::from_json("{\"" + text), ModelDescription::from_json(text),
        ModelDescription::from_yaml("a: *" + text), ModelDescription::from_yaml("- !<" + text)}) {
    ASSERT_FALSE(broken);
    EXPECT_LT(broken.error().message().size(), 400U);
  }
}

TEST(DescriptionText, breaks_between_values_do_not_lengthen_messages) {
  const std::string text = std::string(DocumentLimits::json_bytes - 1, '\n') + "x";
  const auto broken = ModelDescription::from_json(text);
  expect_refusal(broken, Errc::malformed, "JSON, line 4194304 byte 4194304: syntax error");
  EXPECT_EQ(broken.error().message().find("U+000A"), std::string::npos);
  expect_refusal(ModelDescription::from_json("{\"a\": \"b\nc\"}"), Errc::malformed,
                 "line 1 byte 9");
  EXPECT_TRUE(json_with("\"a\\\"\\\\\":\r\n\t1, \"b\":\n\"c\""));
}

TEST(DescriptionText, length_has_a_limit) {
  using enum Errc;
  const std::string json(DocumentLimits::json_bytes, ' ');
  expect_refusal(ModelDescription::from_json(json), malformed, "JSON");
  expect_refusal(ModelDescription::from_json(json + " "), exhausted, "at most 4 MiB");
  const std::string yaml(DocumentLimits::yaml_bytes, '\n');
  expect_refusal(ModelDescription::from_yaml(yaml), invalid_argument, "document: null");
  expect_refusal(ModelDescription::from_yaml(yaml + "\n"), exhausted, "at most 1 MiB");
}

TEST(DescriptionText, a_key_stands_once_in_a_map) {
  using enum Errc;
  expect_refusal(json_with(R"("nms": "none", "nms": "none")"), invalid_argument,
                 "a key appears twice: JSON: nms");
  expect_refusal(json_with(R"("input": {"shape": [1], "shape": [1]})"), invalid_argument,
                 "input.shape");
  expect_refusal(json_with(R"("x": [1, {"y": [0, {"z": 1, "z": 2}]}])"), invalid_argument,
                 "x[1].y[1].z");
  expect_refusal(ModelDescription::from_yaml("outputs: [{type: boxes, shape: [1],\n type: x}]"),
                 invalid_argument, "a key appears twice: YAML, line 2: \"type\"");
  EXPECT_TRUE(json_with(R"("x": [{"y": 1}, {"y": 1}])"));
}

TEST(DescriptionText, broken_text_is_malformed_with_its_line) {
  using enum Errc;
  expect_refusal(ModelDescription::from_json(""), malformed, "JSON, line 1");
  expect_refusal(ModelDescription::from_json("{\n\"a\": 1,\n}"), malformed, "JSON, line 3 byte 11");
  expect_refusal(ModelDescription::from_json("{\"a\": 1e999}"), malformed, "JSON, line 1");
  expect_refusal(ModelDescription::from_json("{} {}"), malformed, "JSON, line 1");
  expect_refusal(ModelDescription::from_json("{\"a\": \"\xff\"}"), malformed, "JSON, line 1");
  expect_refusal(ModelDescription::from_yaml("a: 1\nb: [1, 2\nc: 3"), malformed, "YAML, line 3");
  expect_refusal(ModelDescription::from_yaml("a: *nobody"), malformed, "YAML, line 1");
  expect_refusal(ModelDescription::from_yaml("a: \xff\xfe\xfd"), malformed, "UTF-8");
}

TEST(DescriptionText, aliases_mean_the_last_anchor_of_their_name) {
  ASSERT_VALUE(const auto d,
               ModelDescription::from_yaml(
                   "? [complex, key]\n: &a x\nlabels: [*a, &a y, *a, &b \"1\", *b]\n"
                   "outputs: [{type: detection, shape: &s [1, 9, 20]}]\nx: {k: *s, *a : [*s]}"));
  EXPECT_EQ(d.labels, (std::vector<std::string>{"x", "y", "y", "1", "1"}));
  EXPECT_EQ(d.outputs[0].shape, (std::vector<std::size_t>{1, 9, 20}));
}

TEST(DescriptionText, numbers_of_yaml_start_as_numbers_do) {
  ASSERT_VALUE(const auto d,
               ModelDescription::from_yaml("labels: [inf, nan, infinity, .5x, a1]\noutputs: "
                                           "[{type: detection, shape: [1, 9, 20]}]"));
  EXPECT_EQ(d.labels, (std::vector<std::string>{"inf", "nan", "infinity", ".5x", "a1"}));
}

}  // namespace
}  // namespace halyard::test
