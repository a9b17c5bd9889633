// SPDX-License-Identifier: Apache-2.0
// Output files that have their name before they are complete.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <string>

#include "base/output_files.h"
#include "halyard/output_file.h"
#include "support/result.h"

namespace halyard {
namespace {

using PublishedFile = test::OutputFiles;

TEST_F(PublishedFile, published_file_shows_each_write_at_once) {
  put("a", "old");
  {
    auto file = *OutputFile::create(path("a"));
    ASSERT_TRUE(file.write("one]"));
    EXPECT_EQ(text_of("a"), "old");
    ASSERT_TRUE(file.publish());
    EXPECT_EQ(text_of("a"), "one]");
    EXPECT_EQ(names(), Names{"a"});
    ASSERT_TRUE(file.replace_tail(3, ",two]"));
    EXPECT_EQ(text_of("a"), "one,two]");
    EXPECT_EQ(file.position_bytes(), 8U);
    ASSERT_TRUE(file.replace_tail(3, "]"));
    EXPECT_EQ(text_of("a"), "one]");
    ASSERT_TRUE(file.write("more"));
    EXPECT_EQ(text_of("a"), "one]more");
    EXPECT_FAILS(file.replace_tail(9, "x"), Errc::invalid_argument);
  }
  // Not committed, it stays all the same.
  EXPECT_EQ(text_of("a"), "one]more");
}

TEST_F(PublishedFile, tail_that_cannot_be_replaced_is_put_back) {
  struct rlimit kept {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &kept), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit low { 10'000, kept.rlim_max };
  auto file = *OutputFile::create(path("a"));
  ASSERT_TRUE(file.write(std::string(9'990, 'x') + "\n]}\n"));
  ASSERT_TRUE(file.publish());
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  const Status replaced = file.replace_tail(9'990, std::string(1'000, 'y'));
  ::setrlimit(RLIMIT_FSIZE, &kept);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(replaced.error().os_errno, EFBIG);
  EXPECT_EQ(text_of("a"), std::string(9'990, 'x') + "\n]}\n");
  EXPECT_EQ(file.write("x").error().os_errno, EFBIG);
}

}  // namespace
}  // namespace halyard
