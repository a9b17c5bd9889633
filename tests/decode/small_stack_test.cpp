// SPDX-License-Identifier: Apache-2.0
// Documents of strangers in threads whose stack is small.
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <string>

#include "halyard/description.h"
#include "support/sanitized.h"

namespace halyard {
namespace {

using test::is_sanitized;

struct Job {
  std::string text;
  bool is_json = false;
  std::string message = {};  ///< of the refusal
};

void* parse(void* argument) {
  auto& job = *static_cast<Job*>(argument);
  const auto description =
      job.is_json ? ModelDescription::from_json(job.text) : ModelDescription::from_yaml(job.text);
  if (!description) job.message = description.error().message();
  return nullptr;
}

// With these words, in a thread of 64 kB of stack.
void expect_text_refused(const std::string& words, std::string text, bool is_json = false) {
  SCOPED_TRACE(text.substr(0, 20));
  Job job{std::move(text), is_json};
  pthread_attr_t attributes;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, std::size_t{64} << 10), 0);
  pthread_t thread{};
  EXPECT_EQ(pthread_create(&thread, &attributes, parse, &job), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_NE(job.message.find(words), std::string::npos) << job.message;
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i)
    out += text;
  return out;
}

// Maps below one another, each indented by a blank more.
std::string block_maps(int levels) {
  std::string out;
  for (int i = 0; i < levels; ++i)
    out += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  return out;
}

TEST(SmallStack, deep_documents_are_refused_by_their_depth) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers make frames larger than the stack";
  for (const int levels : {100, 450, 5000}) {
    SCOPED_TRACE(levels);
    expect_text_refused("nest deeper than 64", "x: " + repeated("[", levels));
    expect_text_refused("nest deeper than 64", "x: " + repeated("{a: ", levels));
    expect_text_refused("nest deeper than 64", "x:\n " + repeated("- ", levels));
    expect_text_refused("nest deeper than 64", block_maps(std::min(levels, 450)));
    expect_text_refused("nest deeper than 64", repeated("? ", levels));  // keys that are maps
    expect_text_refused("nest deeper than 64", R"({"x": )" + repeated("[", levels), true);
  }
  // Alias upon alias: each level of the text is shallow.
  std::string aliases = "a0: &a0 [1]\n";
  for (int i = 1; i < 100; ++i)
    aliases += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" +
               std::to_string(i - 1) + "]\n";
  expect_text_refused("nest deeper than 64", aliases);
}

TEST(SmallStack, documents_at_the_limit_are_read) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers make frames larger than the stack";
  const int levels = static_cast<int>(DocumentLimits::depth) - 1;
  for (const bool is_json : {false, true}) {
    const std::string open = is_json ? R"({"x": )" : "{x: ";
    expect_text_refused("needs outputs", open + repeated("[", levels) + repeated("]", levels) + "}",
                        is_json);
  }
  expect_text_refused("needs outputs", block_maps(levels));
}

}  // namespace
}  // namespace halyard
