// SPDX-License-Identifier: Apache-2.0
#include "base/text/cut_text.h"

#include <gtest/gtest.h>

namespace halyard {
namespace {

TEST(CutText, ends_before_a_character_that_does_not_fit) {
  EXPECT_EQ(cut_text("abc", 3), "abc");
  EXPECT_EQ(cut_text("abcd", 3), "abc");
  EXPECT_EQ(cut_text("a\xC3\xA9", 2), "a");
  EXPECT_EQ(cut_text("a\xC3\xA9z", 3), "a\xC3\xA9");
  EXPECT_EQ(cut_text("\xE2\x82\xACx", 2), "");
  EXPECT_EQ(cut_text("\xF0\x9F\x98\x80", 3), "");
  EXPECT_EQ(cut_text("ab\xF0\x9F\x98\x80", 5), "ab");
  EXPECT_EQ(cut_text("ab", 0), "");
}

TEST(CutText, cuts_bytes_that_are_no_text_where_it_is_told) {
  EXPECT_EQ(cut_text("\x80\x80\x80\x80\x80\x80", 5), "\x80\x80\x80\x80\x80");
}

}  // namespace
}  // namespace halyard
