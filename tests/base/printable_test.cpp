// SPDX-License-Identifier: Apache-2.0
// printable(): what a terminal would obey is escaped, everything else stays.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "halyard/log.h"
#include "support/product.h"

namespace halyard {
namespace {

TEST(Printable, plain_text_of_any_language_stays) {
  for (const char* text : {"", "bus.jpg", "C:\\x1b", "a\"b'", "\xc3\xa9t\xc3\xa9",
                           "\xe2\x82\xac \xe6\x97\xa5\xe6\x9c\xac", "\xf0\x9f\x9a\xa2", "\xc2\xa0"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, controls_are_escaped) {
  EXPECT_EQ(printable("a\x1b]0;x\a\nb"), "a\\x1b]0;x\\x07\\x0ab");
  EXPECT_EQ(printable(std::string("\0\r\t", 3)), "\\x00\\x0d\\x09");
  EXPECT_EQ(printable("\x7f"), "\\u007f");
  EXPECT_EQ(printable("\xc2\x80\xc2\x9b\xc2\x9f"), "\\u0080\\u009b\\u009f");
}

TEST(Printable, marks_that_turn_or_break_lines_are_escaped) {
  EXPECT_EQ(printable("\xe2\x80\xa8\xe2\x80\xa9"), "\\u2028\\u2029");
  EXPECT_EQ(printable("\xe2\x80\xaa\xe2\x80\xae"), "\\u202a\\u202e");
  EXPECT_EQ(printable("\xe2\x81\xa6\xe2\x81\xa9"), "\\u2066\\u2069");
  EXPECT_EQ(printable("\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c"), "\\u200e\\u200f\\u061c");
}

TEST(Printable, bytes_that_are_not_utf8_are_escaped) {
  EXPECT_EQ(printable("\xff.jpg"), "\\xff.jpg");
  EXPECT_EQ(printable("\x9b"), "\\x9b");
  EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut";
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b") << "longer than need be";
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b") << "longer than need be";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half a pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "above U+10FFFF";
  EXPECT_EQ(printable("\xc3("), "\\xc3(");
}

TEST(Printable, no_byte_string_gives_a_control) {
  for (const auto [a, b] : test::grid(256, 256)) {
    const std::string text = {static_cast<char>(a), static_cast<char>(b), '\x9b'};
    const std::string shown = printable(text);
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const auto byte = static_cast<unsigned char>(shown[i]);
      ASSERT_TRUE(byte >= 0x20 && byte != 0x7f) << a << " " << b;
      // A C1 control is 0xc2 with 0x80..0x9f.
      const bool is_c1 = byte == 0xc2 && static_cast<unsigned char>(shown[i + 1]) < 0xa0;
      ASSERT_FALSE(is_c1) << a << " " << b;
    }
    ASSERT_EQ(printable(shown), shown);
  }
}

TEST(Printable, json_text_keeps_its_meaning) {
  const nlohmann::json label = "\x1b[2J\x7f \xc2\x9b \xe2\x80\xae \xc3\xa9 \\x \" \n";
  const std::string shown = printable(label.dump());
  EXPECT_EQ(nlohmann::json::parse(shown), label);
  EXPECT_EQ(shown.find('\x7f'), std::string::npos);
}

}  // namespace
}  // namespace halyard
