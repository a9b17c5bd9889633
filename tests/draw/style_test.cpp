// SPDX-License-Identifier: Apache-2.0
// Lengths of an overlay by the size of the image.
#include "draw/style.h"

#include <gtest/gtest.h>

#include <utility>

namespace halyard::draw {
namespace {

void expect_style(const Style& style, const Style& expected) {
  EXPECT_EQ(style.line, expected.line);
  EXPECT_EQ(style.thin_line, expected.thin_line);
  EXPECT_EQ(style.dash, expected.dash);
  EXPECT_EQ(style.radius, expected.radius);
  EXPECT_EQ(style.tag_radius, expected.tag_radius);
  EXPECT_EQ(style.text, expected.text);
  EXPECT_EQ(style.tag_height, expected.tag_height);
  EXPECT_EQ(style.padding, expected.padding);
  EXPECT_EQ(style.trail_width, expected.trail_width);
}

TEST(Style, grows_with_the_image) {
  // By the geometric mean of the sides: 139, 240, 554, 2880, 7000, 60000.
  const std::pair<Size, Style> expected[] = {
      {{160, 120}, {1, 1, 4, 2, 2, 9, 12, 3, 1}},
      {{240, 240}, {2, 1, 6, 4, 2, 9, 12, 3, 2}},
      {{640, 480}, {2, 1, 6, 4, 2, 12, 16, 4, 2}},
      {{2160, 3840}, {9, 4, 27, 18, 9, 45, 60, 16, 9}},
      {{7000, 7000}, {22, 11, 66, 44, 20, 104, 139, 36, 22}},
      {{60000, 60000}, {32, 16, 96, 64, 40, 200, 268, 70, 32}},
  };
  for (const auto& [size, style] : expected) {
    SCOPED_TRACE(size.width);
    expect_style(style_for({}, size.width, size.height), style);
  }
}

TEST(Style, takes_the_line_and_the_text_of_the_options) {
  OverlayOptions options;
  options.line_px = 7;
  options.text_px = 30;
  expect_style(style_for(options, 640, 480), {7, 3, 21, 14, 6, 30, 40, 11, 7});
  options.text_px = 6;
  expect_style(style_for(options, 640, 480), {7, 3, 21, 14, 2, 6, 8, 2, 7});
}

}  // namespace
}  // namespace halyard::draw
