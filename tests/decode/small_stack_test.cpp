// SPDX-License-Identifier: Apache-2.0
// Documents of strangers in threads whose stack is small.
#include <gtest/gtest.h>
#include <pthread.h>

#include <string>

#include "halyard/description.h"

namespace halyard {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

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

// The message of the refusal in a thread of 64 kB of stack.
std::string refusal_of(std::string text, bool is_json = false) {
  Job job{std::move(text), is_json};
  pthread_attr_t attributes;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, std::size_t{64} << 10), 0);
  pthread_t thread{};
  EXPECT_EQ(pthread_create(&thread, &attributes, parse, &job), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return job.message;
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
    EXPECT_NE(refusal_of("x: " + repeated("[", levels)).find("nest deeper than 64"),
              std::string::npos)
        << levels << " flow lists";
    EXPECT_NE(refusal_of("x: " + repeated("{a: ", levels)).find("nest deeper than 64"),
              std::string::npos)
        << levels << " flow maps";
    EXPECT_NE(refusal_of("x:\n " + repeated("- ", levels)).find("nest deeper than 64"),
              std::string::npos)
        << levels << " compact lists";
    EXPECT_NE(refusal_of(block_maps(levels > 450 ? 450 : levels)).find("nest deeper than 64"),
              std::string::npos)
        << levels << " block maps";
    EXPECT_NE(refusal_of(repeated("? ", levels)).find("nest deeper than 64"), std::string::npos)
        << levels << " keys that are maps";
    EXPECT_NE(refusal_of(R"({"x": )" + repeated("[", levels), true).find("nest deeper than 64"),
              std::string::npos)
        << levels << " lists of JSON";
  }
  // Alias upon alias: each level of the text is shallow.
  std::string aliases = "a0: &a0 [1]\n";
  for (int i = 1; i < 100; ++i)
    aliases += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" +
               std::to_string(i - 1) + "]\n";
  EXPECT_NE(refusal_of(aliases).find("nest deeper than 64"), std::string::npos);
}

TEST(SmallStack, documents_at_the_limit_are_read) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers make frames larger than the stack";
  const int levels = static_cast<int>(DocumentLimits::depth) - 1;
  for (const bool is_json : {false, true}) {
    const std::string open = is_json ? R"({"x": )" : "{x: ";
    const std::string message =
        refusal_of(open + repeated("[", levels) + repeated("]", levels) + "}", is_json);
    EXPECT_NE(message.find("needs outputs"), std::string::npos) << message;
  }
  EXPECT_NE(refusal_of(block_maps(levels)).find("needs outputs"), std::string::npos);
}

}  // namespace
}  // namespace halyard
