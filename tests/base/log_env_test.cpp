// SPDX-License-Identifier: Apache-2.0
// The log reaches its sink and nobody else; the environment is read as documented.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/text/log_format.h"
#include "halyard/log.h"
#include "halyard/trace.h"
#include "support/variable.h"

namespace halyard {
namespace {

class LogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    set_log_sink([this](LogLevel, std::string_view target, std::string_view text) {
      lines_.push_back(std::string(target) + ": " + std::string(text));
    });
    set_log_level(LogLevel::info);
  }
  void TearDown() override {
    set_log_sink({});
    set_log_level(LogLevel::warn);
  }
  std::vector<std::string> lines_;
};

TEST_F(LogTest, delivers_messages_up_to_the_level_in_force) {
  log(LogLevel::warn, "codec", "first");
  log(LogLevel::debug, "codec", "hidden");
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_EQ(lines_[0], "codec: first");
}

TEST_F(LogTest, delivers_no_message_of_level_off) {
  for (const LogLevel in_force : {LogLevel::off, LogLevel::info, LogLevel::trace}) {
    set_log_level(in_force);
    log(LogLevel::off, "codec", "never");
    HALYARD_LOG(LogLevel::off, "codec", "{}", "never");
    EXPECT_TRUE(lines_.empty()) << to_string(in_force);
  }
}

TEST_F(LogTest, formats_only_what_is_read) {
  int formatted = 0;
  const auto count = [&formatted] { return ++formatted; };
  HALYARD_LOG(LogLevel::debug, "image", "{}", count());
  EXPECT_EQ(formatted, 0);
  HALYARD_LOG(LogLevel::info, "image", "{}", count());
  EXPECT_EQ(formatted, 1);
  EXPECT_EQ(lines_.back(), "image: 1");
}

TEST_F(LogTest, tells_of_spans_at_trace_and_of_none_below) {
  { const trace::Span span("codec.peek"); }
  EXPECT_TRUE(lines_.empty());
  set_log_level(LogLevel::trace);
  {
    trace::Span span("codec.decode");
    span.arg("width", 3);
  }
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_EQ(lines_[0].substr(0, 20), "codec: codec.decode ");
  EXPECT_EQ(lines_[0].substr(lines_[0].size() - 3), " ms");
  EXPECT_FALSE(trace::is_active());
  set_log_level(LogLevel::debug);
  { const trace::Span span("codec.peek"); }
  EXPECT_EQ(lines_.size(), 1U);
}

TEST_F(LogTest, a_sink_may_call_what_logs) {
  int calls = 0;
  set_log_sink([&](LogLevel, std::string_view, std::string_view) {
    ++calls;
    const trace::Span span("sink.write");
    log(LogLevel::error, "sink", "dropped");
  });
  set_log_level(LogLevel::trace);
  log(LogLevel::error, "codec", "one");
  EXPECT_EQ(calls, 1);
  log(LogLevel::error, "codec", "two");
  EXPECT_EQ(calls, 2);
}

TEST_F(LogTest, is_silent_without_a_sink) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  set_log_sink({});
  log(LogLevel::error, "codec", "nobody hears this");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(lines_.empty());
}

class EnvironmentTest : public ::testing::Test {
 protected:
  void set(const char* name, const char* value) {
    ::setenv(name, value, 1);
    names_.emplace_back(name);
  }
  void TearDown() override {
    for (const std::string& name : names_)
      ::unsetenv(name.c_str());
  }
  std::vector<std::string> names_;
};

TEST_F(EnvironmentTest, flags_are_on_unless_empty_zero_or_false) {
  for (const char* off : {"", "0", "false", "FALSE"}) {
    set("HALYARD_TENSOR_FORCE_MEM", off);
    EXPECT_FALSE(read_environment().tensor_force_mem) << off;
  }
  for (const char* on : {"1", "true", "yes"}) {
    set("HALYARD_TENSOR_FORCE_MEM", on);
    EXPECT_TRUE(read_environment().tensor_force_mem) << on;
  }
}

TEST_F(EnvironmentTest, accepts_the_older_prefix_and_prefers_ours) {
  set("EDGEFIRST_FORCE_BACKEND", "OpenGL");
  EXPECT_EQ(read_environment().force_backend, "opengl");
  set("HALYARD_FORCE_BACKEND", "CPU");
  EXPECT_EQ(read_environment().force_backend, "cpu");
}

TEST_F(EnvironmentTest, heaps_stand_between_colons_as_they_are_written) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(read_environment().tensor_dma_heap, Names());
  set("EDGEFIRST_TENSOR_DMA_HEAP", "system");
  EXPECT_EQ(read_environment().tensor_dma_heap, Names{"system"});
  set("HALYARD_TENSOR_DMA_HEAP", "linux,cma:Vendor-X:udmabuf");
  EXPECT_EQ(read_environment().tensor_dma_heap, (Names{"linux,cma", "Vendor-X", "udmabuf"}));
  set("HALYARD_TENSOR_DMA_HEAP", "::system:");
  EXPECT_EQ(read_environment().tensor_dma_heap, Names{"system"}) << "empty names are left out";
  set("HALYARD_TENSOR_DMA_HEAP", "");
  EXPECT_EQ(read_environment().tensor_dma_heap, Names()) << "set to nothing: the default order";
}

TEST_F(EnvironmentTest, caches_are_where_the_user_keeps_them) {
  const test::Variable home("HOME", "/user"), cache("HALYARD_SHADER_CACHE", "");
  ::unsetenv("HALYARD_SHADER_CACHE");  // tests may run without the user's cache
  set("XDG_CACHE_HOME", "/caches");
  EXPECT_EQ(read_environment().cache_home, "/caches");
  set("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(read_environment().cache_home, "/user/.cache");
  ::setenv("HOME", "relative", 1);
  EXPECT_FALSE(read_environment().cache_home);
  EXPECT_FALSE(read_environment().shader_cache);
  ::setenv("HALYARD_SHADER_CACHE", "", 1);
  EXPECT_FALSE(read_environment().shader_cache);
  set("EDGEFIRST_SHADER_CACHE", "/Folder");
  EXPECT_FALSE(read_environment().shader_cache) << "set to nothing, with the other prefix";
  ::setenv("HALYARD_SHADER_CACHE", "Off", 1);
  EXPECT_EQ(read_environment().shader_cache, "Off");
}

TEST_F(EnvironmentTest, log_level_has_our_prefix_only) {
  set("EDGEFIRST_LOG", "debug");
  EXPECT_FALSE(read_environment().log);
  set("HALYARD_LOG", "Debug");
  EXPECT_EQ(read_environment().log, LogLevel::debug);
  set("HALYARD_LOG", "loud");
  EXPECT_FALSE(read_environment().log);
  EXPECT_EQ(read_environment().unknown_log, "loud");
}

}  // namespace
}  // namespace halyard
