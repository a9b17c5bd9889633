// SPDX-License-Identifier: Apache-2.0
// PNG decoding: every colour type, depth, element type and layout from samples that are known.
#include <cstring>

#include "codec/png_writer.h"
#include "codec/support.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::Bytes;
using test::elements;
using test::load_as;
using test::plane_bytes;
using test::PngSpec;

template <class T>
std::span<const std::byte> as_bytes(const std::vector<T>& samples) {
  return std::as_bytes(std::span(samples));
}

// Samples that use all bits of their depth.
template <class T>
std::vector<T> pattern(std::size_t count) {
  std::vector<T> out(count);
  std::uint32_t state = 12345;
  for (auto& v : out)
    v = static_cast<T>((state = state * 1664525U + 1013904223U) >> 13);
  return out;
}

struct Kind {
  int color_type;
  std::size_t channels;
  PixelFormat native;
};
constexpr Kind kinds[] = {{0, 1, F::grey}, {2, 3, F::rgb}, {4, 2, F::grey}, {6, 4, F::rgba}};

/// The elements of one file as u8, i8, u16 and f32.
struct EveryDtype {
  std::vector<std::uint8_t> u8;
  std::vector<std::int8_t> i8;
  std::vector<std::uint16_t> u16;
  std::vector<float> f32;
};
EveryDtype every_dtype(const Bytes& file, PixelFormat format) {
  return {elements<std::uint8_t>(*load_as(file, format, DType::u8)),
          elements<std::int8_t>(*load_as(file, format, DType::i8)),
          elements<std::uint16_t>(*load_as(file, format, DType::u16)),
          elements<float>(*load_as(file, format, DType::f32))};
}

class PngLayout : public testing::TestWithParam<std::tuple<Kind, bool>> {};

TEST_P(PngLayout, eight_bit_samples_arrive_unchanged_in_every_element_type) {
  const auto& [kind, interlaced] = GetParam();
  for (const unsigned width : {1U, 2U, 5U, 13U, 64U}) {
    const auto samples = pattern<std::uint8_t>(width * 9 * kind.channels);
    const Bytes file = test::make_png(
        {.width = width, .height = 9, .color_type = kind.color_type, .interlaced = interlaced},
        as_bytes(samples));
    ASSERT_VALUE(const auto header, peek(file));
    EXPECT_EQ(header.native_format, kind.native);
    EXPECT_EQ(header.components, static_cast<int>(kind.channels));
    EXPECT_EQ(header.progressive, interlaced);
    const std::size_t step = kind.channels == 2 ? 2 : 1;
    const auto [a, b, c, d] = every_dtype(file, kind.native);
    ASSERT_EQ(a.size(), samples.size() / step);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::uint8_t v = samples[i * step];
      ASSERT_EQ(a[i], v);
      ASSERT_EQ(b[i], static_cast<int>(v) - 128);
      ASSERT_EQ(c[i], v * 257);
      ASSERT_EQ(d[i], static_cast<float>(v) / 255.0F);
    }
  }
}

TEST_P(PngLayout, sixteen_bit_samples_become_the_nearest_code_or_stay) {
  const auto& [kind, interlaced] = GetParam();
  const auto samples = pattern<std::uint16_t>(std::size_t{11} * 9 * kind.channels);
  const Bytes file = test::make_png({.width = 11,
                                     .height = 9,
                                     .depth = 16,
                                     .color_type = kind.color_type,
                                     .interlaced = interlaced},
                                    as_bytes(samples));
  EXPECT_EQ(peek(file)->bit_depth, 16);
  const std::size_t step = kind.channels == 2 ? 2 : 1;
  const auto [a, b, c, d] = every_dtype(file, kind.native);
  ASSERT_EQ(a.size(), samples.size() / step);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint16_t v = samples[i * step];
    const int code = (v * 255 + 32767) / 65535;
    ASSERT_EQ(a[i], code);
    ASSERT_EQ(b[i], code - 128);
    ASSERT_EQ(c[i], v);
    ASSERT_EQ(d[i], static_cast<float>(v) / 65535.0F);
  }
}

std::string layout_name(const testing::TestParamInfo<std::tuple<Kind, bool>>& param) {
  return "type" + std::to_string(std::get<0>(param.param).color_type) +
         (std::get<1>(param.param) ? "_interlaced" : "_plain");
}

INSTANTIATE_TEST_SUITE_P(Kinds, PngLayout,
                         testing::Combine(testing::ValuesIn(kinds), testing::Bool()), layout_name);

TEST(Png, grey_of_fewer_bits_spreads_over_eight) {
  for (const auto& [depth, interlaced] : test::product({1, 2, 4}, {false, true})) {
    // 9 pixels a row: the last byte of a row is part-used.
    const auto row_bytes = static_cast<std::size_t>((9 * depth + 7) / 8);
    const auto samples = pattern<std::uint8_t>(row_bytes * 5);
    const Bytes file = test::make_png(
        {.width = 9, .height = 5, .depth = depth, .color_type = 0, .interlaced = interlaced},
        as_bytes(samples));
    ASSERT_VALUE(const auto image, test::load(file));
    const auto got = plane_bytes(image, 0);
    const int maximum = (1 << depth) - 1;
    for (const auto [y, x] : test::grid<std::size_t>(5, 9)) {
      const std::size_t bit = x * static_cast<std::size_t>(depth);
      const int stored =
          samples[y * row_bytes + bit / 8] >> (8 - depth - static_cast<int>(bit % 8)) & maximum;
      ASSERT_EQ(got[y * 9 + x], stored * 255 / maximum) << depth << " bits at " << x << "," << y;
    }
  }
}

TEST(Png, palette_expands_and_its_transparency_makes_rgba) {
  const std::vector<std::uint8_t> indices = {0, 1, 2, 2, 1, 0};
  PngSpec spec{.width = 3, .height = 2, .color_type = 3};
  spec.palette = {{10, 20, 30}, {200, 100, 0}, {1, 2, 3}};
  const Bytes opaque = test::make_png(spec, as_bytes(indices));
  EXPECT_TRUE(peek(opaque)->palette);
  EXPECT_EQ(peek(opaque)->components, 3);
  const auto rgb = test::load(opaque);
  ASSERT_OK(rgb);
  EXPECT_EQ(rgb->format(), F::rgb);
  EXPECT_EQ(plane_bytes(*rgb, 0), (std::vector<std::uint8_t>{10, 20, 30, 200, 100, 0, 1, 2, 3, 1, 2,
                                                             3, 200, 100, 0, 10, 20, 30}));
  spec.palette_alpha = {0, 128};
  const Bytes clear = test::make_png(spec, as_bytes(indices));
  EXPECT_EQ(peek(clear)->components, 4);
  const auto rgba = test::load(clear);
  ASSERT_OK(rgba);
  EXPECT_EQ(rgba->format(), F::rgba);
  EXPECT_EQ(plane_bytes(*rgba, 0),
            (std::vector<std::uint8_t>{10, 20, 30, 0,   200, 100, 0, 128, 1,  2,  3,  255,
                                       1,  2,  3,  255, 200, 100, 0, 128, 10, 20, 30, 0}));
}

TEST(Png, transparent_colour_makes_rgba) {
  const std::vector<std::uint8_t> samples = {9, 8, 7, 1, 2, 3};
  PngSpec spec{.width = 2, .height = 1};
  spec.transparent_color = {9, 8, 7};
  ASSERT_VALUE(const auto image, test::load(test::make_png(spec, as_bytes(samples))));
  EXPECT_EQ(plane_bytes(image, 0), (std::vector<std::uint8_t>{9, 8, 7, 0, 1, 2, 3, 255}));
}

TEST(Png, transparency_behind_the_data_is_none) {
  struct Case {
    int color_type;
    std::string palette, transparency;
  };
  const Case cases[] = {
      {2, "", test::png_chunk("tRNS", std::string(6, '\0'))},
      {3, test::png_chunk("PLTE", "abcdef"), test::png_chunk("tRNS", std::string(1, '\0'))}};
  for (const Case& c : cases) {
    test::RawPng spec{.color_type = c.color_type, .before_data = c.palette};
    const std::size_t row_bytes = 8 * test::png_pixel_bytes(spec);
    spec.data = test::zlib_stream(std::string(8 * (1 + row_bytes), '\0'));
    spec.after_data = c.transparency;
    ASSERT_VALUE(const auto late, peek(test::png_file(spec)));
    EXPECT_EQ(late.native_format, F::rgb) << c.color_type;
    spec.before_data += c.transparency;
    spec.after_data = "";
    EXPECT_EQ(peek(test::png_file(spec))->native_format, F::rgba) << c.color_type;
  }
}

TEST(Png, that_starts_with_another_chunk_is_corrupt) {
  const Bytes file = test::make_png({.width = 3, .height = 1}, Bytes(9));
  constexpr std::size_t at = 16, header_bytes = 13, behind = at + header_bytes + 4;
  const std::string content(reinterpret_cast<const char*>(&file[at]), header_bytes);
  for (const std::string_view type : {"tEXt", "PLTE", "IDAT", "iHDR", "XHDR"}) {
    const std::string other = test::png_chunk(type, content);
    const auto chunk = std::as_bytes(std::span(other));
    Bytes instead(file.begin(), file.begin() + 8);
    instead.insert(instead.end(), chunk.begin(), chunk.end());
    Bytes before = instead;
    instead.insert(instead.end(), file.begin() + behind, file.end());
    before.insert(before.end(), file.begin() + 8, file.end());
    for (const Bytes& bad : {instead, before})
      EXPECT_FAILS(peek(bad), Errc::corrupt, "header chunk") << type;
  }
}

TEST(Png, asked_formats_reorder_add_and_drop_channels) {
  const std::vector<std::uint8_t> samples = {255, 0, 0, 40, 0, 255, 0, 50, 0, 0, 255, 60};
  const Bytes file = test::make_png({.width = 3, .height = 1, .color_type = 6}, as_bytes(samples));
  const auto get = [&](PixelFormat format) {
    return plane_bytes(*load_as(file, format, DType::u8), 0);
  };
  EXPECT_EQ(get(F::bgra), (std::vector<std::uint8_t>{0, 0, 255, 40, 0, 255, 0, 50, 255, 0, 0, 60}));
  EXPECT_EQ(get(F::rgb), (std::vector<std::uint8_t>{255, 0, 0, 0, 255, 0, 0, 0, 255}));
  EXPECT_EQ(get(F::grey), (std::vector<std::uint8_t>{76, 150, 29}));
  const std::vector<std::uint8_t> greys = {7, 200};
  const Bytes grey = test::make_png({.width = 2, .height = 1, .color_type = 0}, as_bytes(greys));
  EXPECT_EQ(plane_bytes(*load_as(grey, F::rgba, DType::u8), 0),
            (std::vector<std::uint8_t>{7, 7, 7, 255, 200, 200, 200, 255}));
}

TEST(Png, bgra_of_other_element_types_agrees_with_u8) {
  const auto samples = pattern<std::uint8_t>(7 * 3 * 4);
  const Bytes file = test::make_png({.width = 7, .height = 3, .color_type = 6}, as_bytes(samples));
  const auto u8 = elements<std::uint8_t>(*load_as(file, F::bgra, DType::u8));
  const auto u16 = elements<std::uint16_t>(*load_as(file, F::bgra, DType::u16));
  for (std::size_t i = 0; i < u8.size(); ++i)
    ASSERT_EQ(u16[i], u8[i] * 257);
}

TEST(Png, rows_keep_the_destinations_pitch_and_padding) {
  const auto samples = pattern<std::uint8_t>(13 * 9 * 3);
  for (const bool interlaced : {false, true}) {
    const Bytes file =
        test::make_png({.width = 13, .height = 9, .interlaced = interlaced}, as_bytes(samples));
    for (const auto& [format, dtype] : test::product(
             {F::rgb, F::rgba, F::bgra, F::grey}, {DType::u8, DType::i8, DType::u16, DType::f32})) {
      auto guarded = test::make_guarded(13, 9, format, 12, dtype);
      ASSERT_OK(load_into(guarded->tensor, file, {.format = format}));
      EXPECT_TRUE(test::padding_is_intact(*guarded)) << to_string(format) << to_string(dtype);
      EXPECT_EQ(plane_bytes(guarded->tensor, 0), plane_bytes(*load_as(file, format, dtype), 0));
    }
  }
}

TEST(Png, colorimetry_says_srgb_or_only_the_range) {
  const auto samples = pattern<std::uint8_t>(12);
  const Bytes rgb = test::make_png({.width = 2, .height = 2}, as_bytes(samples));
  const auto color = test::load(rgb);
  EXPECT_EQ(color->colorimetry(), (Colorimetry{ColorSpace::srgb, ColorTransfer::srgb,
                                               ColorEncoding::unknown, ColorRange::full}));
  const auto grey = test::load(rgb, {.format = F::grey});
  EXPECT_EQ(grey->colorimetry(), Colorimetry{.range = ColorRange::full});
}

struct RealPng {
  const char* name;
  PixelFormat format;
  int depth;
};

TEST(Png, photos_decode_and_agree_with_each_other) {
  constexpr RealPng photos[] = {
      {"bus_161_rgb8.png", F::rgb, 8},           {"bus_161_rgba8.png", F::rgba, 8},
      {"bus_161_gray8.png", F::grey, 8},         {"bus_161_gray8_alpha8.png", F::grey, 8},
      {"bus_161_rgb16.png", F::rgb, 16},         {"bus_161_palette8.png", F::rgb, 8},
      {"bus_161_rgb8_interlaced.png", F::rgb, 8}};
  std::vector<std::vector<std::uint8_t>> pixels;
  for (const RealPng& real : photos) {
    HALYARD_PHOTO(file, real.name);
    const auto header = peek(file);
    ASSERT_TRUE(header) << real.name << header.error().message();
    EXPECT_EQ(header->native_format, real.format) << real.name;
    EXPECT_EQ(header->bit_depth, real.depth) << real.name;
    EXPECT_EQ(header->width, 121U);
    EXPECT_EQ(header->height, 161U);
    const auto image = test::load(file);
    ASSERT_TRUE(image) << real.name << image.error().message();
    pixels.push_back(plane_bytes(*image, 0));
  }
  EXPECT_EQ(pixels[6], pixels[0]);
  EXPECT_EQ(pixels[3], pixels[2]);
  for (const auto [i, c] : test::grid<std::size_t>(121 * 161, 3)) {
    ASSERT_EQ(pixels[1][4 * i + c], pixels[0][3 * i + c]);
    // One rounds a division by 257, the other drops the low byte.
    ASSERT_NEAR(pixels[4][3 * i + c], pixels[0][3 * i + c], 1);
  }
}

}  // namespace
}  // namespace halyard
