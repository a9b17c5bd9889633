// SPDX-License-Identifier: Apache-2.0
// Fonts that are missing or broken, text that is not UTF-8, and what lands on the canvas.
#include "draw/font.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include "base/text/utf8.h"
#include "draw/text_color.h"
#include "support/folder.h"
#include "support/result.h"

namespace halyard::draw {
namespace {

std::u32string decode(std::string_view text) {
  std::u32string out;
  while (!text.empty())
    out += next_code_point(text);
  return out;
}

TEST(Utf8, valid_text_of_all_lengths_is_read) {
  EXPECT_EQ(decode("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x9A\xA2"), U"a\u00E9\u20AC\U0001F6A2");
}

TEST(Utf8, invalid_bytes_become_replacement_characters) {
  EXPECT_EQ(decode("\xFF"
                   "a"),
            U"\uFFFDa");
  EXPECT_EQ(decode("\xC0\x80"), U"\uFFFD\uFFFD");  // overlong
  EXPECT_EQ(decode("\xE0\x80\x80"), U"\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(decode("\xED\xA0\x80"), U"\uFFFD\uFFFD\uFFFD");  // surrogate
  EXPECT_EQ(decode("\xF4\x90\x80\x80"), U"\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(decode("\xE2\x82"), U"\uFFFD\uFFFD");  // cut
  EXPECT_EQ(decode("\x80"), U"\uFFFD");
}

TEST(Font, missing_packaged_font_names_every_path_and_the_package) {
  const char* const candidates[] = {"/nowhere/one.ttf", "/nowhere/two.ttf"};
  const auto font = Font::open("", candidates);
  EXPECT_FAILS(font, Errc::not_found);
  const std::string message = font.error().message();
  EXPECT_NE(message.find("/nowhere/one.ttf"), std::string::npos) << message;
  EXPECT_NE(message.find("/nowhere/two.ttf"), std::string::npos) << message;
  EXPECT_NE(message.find("fonts-dejavu-core"), std::string::npos) << message;
}

TEST(Font, missing_named_font_does_not_fall_back) {
  EXPECT_FAILS(Font::open("/nowhere/mine.ttf", packaged_fonts()), Errc::not_found,
               "/nowhere/mine.ttf");
}

TEST(Font, broken_file_is_malformed) {
  const test::Folder folder;
  const std::string path = folder / "broken.ttf";
  for (const std::string& content : {std::string(), std::string("not a font"),
                                     std::string("\0\1\0\0", 4) + std::string(100, '\7')}) {
    std::ofstream(path, std::ios::binary) << content;
    const auto font = Font::open(path, {});
    EXPECT_FAILS(font, Errc::malformed);
  }
  EXPECT_FALSE(Font::open(folder.path(), {}));
}

class FontText : public testing::Test {
 protected:
  void SetUp() override {
    auto font = Font::open("", packaged_fonts());
    if (!font) GTEST_SKIP() << font.error().message();
    font_.emplace(*std::move(font));
  }
  std::size_t covered(std::string_view line, const Rect& clip) {
    pixels_.assign(std::size_t{200} * 40 * 3, 0);
    const Canvas canvas(PixelFormat::rgb, {200, 40}, {}, {PixelRows{pixels_.data(), 600}});
    font_->draw(canvas.clipped(clip), 5, 30, line, 20, {{255, 255, 255, 0}, 255});
    return static_cast<std::size_t>(
        std::count_if(pixels_.begin(), pixels_.end(), [](auto v) { return v > 0; }) / 3);
  }
  std::optional<Font> font_;
  std::vector<std::uint8_t> pixels_;
};

TEST_F(FontText, covers_pixels_and_wider_text_is_wider) {
  const Rect all{0, 0, 200, 40};
  EXPECT_GT(covered("boat", all), 150U);
  EXPECT_EQ(covered("", all), 0U);
  EXPECT_EQ(covered("   ", all), 0U);
  EXPECT_EQ(font_->width("boatboat", 20), 2 * font_->width("boat", 20));
  EXPECT_GT(font_->width("boat", 40), font_->width("boat", 20));
  EXPECT_NEAR(font_->cap_height(100), 73, 8);
}

TEST_F(FontText, stays_inside_its_clip) {
  covered("WWWWW", {10, 18, 30, 25});
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 200; ++x)
      if (x < 10 || x >= 30 || y < 18 || y >= 25) {
        ASSERT_EQ(pixels_[static_cast<std::size_t>((y * 200 + x) * 3)], 0) << x << " " << y;
      }
}

TEST_F(FontText, control_and_unknown_characters_are_harmless) {
  EXPECT_EQ(font_->width("a\nb", 20), font_->width("a b", 20));
  EXPECT_GT(covered("\xFF\xFE", {0, 0, 200, 40}), 20U);  // replacement characters
  EXPECT_LT(font_->width(std::string(1'000'000, 'i'), 20), 513 * 20);
}

TEST(TextColor, is_black_on_light_and_white_on_dark_tags) {
  EXPECT_EQ(text_color_on({255, 255, 255}), (Color{0, 0, 0}));
  EXPECT_EQ(text_color_on({255, 235, 60}), (Color{0, 0, 0}));
  EXPECT_EQ(text_color_on({0, 0, 0}), (Color{255, 255, 255}));
  EXPECT_EQ(text_color_on({30, 30, 160}), (Color{255, 255, 255}));
}

int squared_distance(const Color& a, const Color& b) {
  return (a.r - b.r) * (a.r - b.r) + (a.g - b.g) * (a.g - b.g) + (a.b - b.b) * (a.b - b.b);
}

TEST(Palette, first_colors_are_far_apart_and_stable) {
  for (std::uint64_t i = 0; i < 20; ++i)
    for (std::uint64_t j = 0; j < i; ++j)
      EXPECT_GE(squared_distance(palette_color(i), palette_color(j)), 60 * 60) << i << " " << j;
  EXPECT_EQ(palette_color(0), (Color{37, 150, 255}));
  EXPECT_EQ(palette_color(19), (Color{0, 255, 180}));
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const Color color = palette_color(i);
    sum += (i + 1) * (color.r + 3U * color.g + 7U * color.b);
  }
  EXPECT_EQ(sum, 360551U) << "a colour of those that programs know has changed";
}

// sRGB to Oklab, the inverse of what the palette computes. B. Ottosson (2020).
std::array<double, 3> oklab_of(const Color& color) {
  const auto linear = [](std::uint8_t byte) {
    const double v = byte / 255.0;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  const double r = linear(color.r), g = linear(color.g), b = linear(color.b);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

TEST(Palette, later_colors_have_three_lightnesses_one_chroma_and_hues_by_the_golden_angle) {
  int compared = 0;
  for (std::uint64_t i = 20; i < 400; ++i) {
    const Color color = palette_color(i);
    const auto is_inside = [](std::uint8_t v) { return v > 0 && v < 255; };
    if (!is_inside(color.r) || !is_inside(color.g) || !is_inside(color.b)) continue;  // clamped
    const auto [lightness, a, b] = oklab_of(color);
    EXPECT_NEAR(lightness, 0.62 + 0.1 * static_cast<double>(i % 3), 0.005) << i;
    EXPECT_NEAR(std::hypot(a, b), 0.17, 0.008) << i;
    const double hue = static_cast<double>(i) * 2 * std::numbers::pi * (2 - std::numbers::phi);
    EXPECT_NEAR(std::cos(std::atan2(b, a) - hue), 1, 0.002) << i;
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST(Palette, later_colors_differ_from_their_neighbours) {
  for (std::uint64_t i = 20; i < 2000; ++i)
    EXPECT_GE(squared_distance(palette_color(i), palette_color(i + 1)), 60 * 60) << i;
  EXPECT_NE(palette_color(~std::uint64_t{0}), palette_color(~std::uint64_t{0} - 1));
}

}  // namespace
}  // namespace halyard::draw
