// SPDX-License-Identifier: Apache-2.0
// JPEG decoding: planes and pixels against libjpeg's plain scanline interface.
#include <cstdio>
// jpeglib.h needs stdio.
#include <jpeglib.h>

#include "codec/support.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::Bytes;
using test::JpegSpec;
using test::plain_jpeg;
using test::plane_bytes;
using test::Stored;

// The native planes that libjpeg's repeated YCbCr pixels mean.
struct Planes {
  std::vector<std::uint8_t> luma, cbcr;
};

Planes reference_planes(std::span<const std::byte> file, std::size_t width, std::size_t height,
                        PixelFormat format) {
  const auto pixels = plain_jpeg(file, JCS_YCbCr, false);
  const FormatInfo& f = info(format);
  const std::size_t bw = std::size_t{1} << f.chroma_shift_x;
  const std::size_t bh = std::size_t{1} << f.chroma_shift_y;
  Planes out;
  for (std::size_t i = 0; i < width * height; ++i)
    out.luma.push_back(pixels[3 * i]);
  for (std::size_t y = 0; y < height; y += bh) {
    for (std::size_t x = 0; x < width; x += bw) {
      for (std::size_t c = 1; c < 3; ++c) {
        unsigned sum = 0, count = 0;
        for (std::size_t yy = y; yy < std::min(y + bh, height); ++yy) {
          for (std::size_t xx = x; xx < std::min(x + bw, width); ++xx, ++count)
            sum += pixels[3 * (yy * width + xx) + c];
        }
        out.cbcr.push_back(static_cast<std::uint8_t>((sum + count / 2) / count));
      }
    }
  }
  return out;
}

void expect_native(const Bytes& file, PixelFormat format) {
  ASSERT_VALUE(const auto image, test::load(file));
  ASSERT_EQ(image.format(), format);
  const std::size_t width = image.width(), height = image.height();
  const Planes expected = reference_planes(file, width, height, format);
  EXPECT_TRUE(plane_bytes(image, 0, width) == expected.luma) << "luma differs";
  EXPECT_TRUE(plane_bytes(image, 1) == expected.cbcr) << "chroma differs";
  EXPECT_EQ(image.colorimetry(), Colorimetry::jpeg());
}

struct Real {
  const char* name;
  PixelFormat format;
  std::size_t width, height;
};
class RealJpeg : public testing::TestWithParam<Real> {};

TEST_P(RealJpeg, gives_the_planes_that_libjpeg_gives) {
  const Real& real = GetParam();
  HALYARD_PHOTO(file, real.name);
  ASSERT_VALUE(const auto header, peek(file));
  EXPECT_EQ(header.type, ImageFileType::jpeg);
  EXPECT_EQ(header.native_format, real.format);
  EXPECT_EQ(header.width, real.width);
  EXPECT_EQ(header.height, real.height);
  expect_native(file, real.format);
}

TEST_P(RealJpeg, gives_the_packed_pixels_that_libjpeg_gives) {
  HALYARD_PHOTO(file, GetParam().name);
  constexpr std::pair<PixelFormat, int> kinds[] = {{F::rgb, JCS_RGB},
                                                   {F::bgr, JCS_EXT_BGR},
                                                   {F::rgba, JCS_EXT_RGBA},
                                                   {F::bgra, JCS_EXT_BGRA},
                                                   {F::grey, JCS_GRAYSCALE}};
  for (const auto& [format, space] : kinds) {
    ASSERT_VALUE(const auto image, test::load(file, {.format = format}));
    EXPECT_TRUE(plane_bytes(image, 0) == plain_jpeg(file, space, true)) << to_string(format);
  }
}

INSTANTIATE_TEST_SUITE_P(Photos, RealJpeg,
                         testing::Values(Real{"bus.jpg", F::nv12, 810, 1080},
                                         Real{"zidane.jpg", F::nv12, 1280, 720},
                                         Real{"bus_320.jpg", F::nv12, 240, 320},
                                         Real{"bus_320_progressive.jpg", F::nv12, 240, 320},
                                         Real{"zidane_420_319x179.jpg", F::nv12, 319, 179},
                                         Real{"zidane_422_319x179.jpg", F::nv16, 319, 179},
                                         Real{"zidane_444_319x179.jpg", F::nv24, 319, 179}),
                         [](const auto& param) {
                           std::string name = param.param.name;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(Jpeg, grey_photo_is_one_plane_of_full_range) {
  HALYARD_PHOTO(file, "bus_320_gray.jpg");
  ASSERT_VALUE(const auto image, test::load(file));
  EXPECT_EQ(image.format(), F::grey);
  EXPECT_EQ(image.colorimetry(), Colorimetry{.range = ColorRange::full});
  EXPECT_TRUE(plane_bytes(image, 0) == plain_jpeg(file, JCS_GRAYSCALE, true));
}

TEST(Jpeg, progressive_photo_has_the_pixels_of_the_baseline_one) {
  HALYARD_PHOTO(baseline, "bus_320.jpg");
  HALYARD_PHOTO(progressive, "bus_320_progressive.jpg");
  EXPECT_FALSE(peek(baseline)->progressive);
  EXPECT_TRUE(peek(progressive)->progressive);
  const auto a = test::load(baseline);
  const auto b = test::load(progressive);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(plane_bytes(*a, 0), plane_bytes(*b, 0));
  EXPECT_EQ(plane_bytes(*a, 1), plane_bytes(*b, 1));
}

struct Sampling {
  std::array<std::array<int, 2>, 3> factors;
  PixelFormat format;
};
class SamplingTest : public testing::TestWithParam<Sampling> {};

TEST_P(SamplingTest, every_size_baseline_and_progressive_is_exact) {
  const auto& [factors, format] = GetParam();
  for (const auto& [width, height, progressive] : test::product(
           {1U, 2U, 7U, 8U, 16U, 17U, 31U, 33U, 64U}, {1U, 2U, 9U, 16U, 31U, 48U}, {false, true})) {
    SCOPED_TRACE(testing::Message() << width << " x " << height);
    const Bytes file = test::make_jpeg(
        {.width = width, .height = height, .sampling = factors, .progressive = progressive});
    ASSERT_EQ(peek(file)->native_format, format);
    expect_native(file, format);
  }
}

INSTANTIATE_TEST_SUITE_P(Factors, SamplingTest,
                         testing::Values(Sampling{{{{2, 2}, {1, 1}, {1, 1}}}, F::nv12},
                                         Sampling{{{{2, 1}, {1, 1}, {1, 1}}}, F::nv16},
                                         Sampling{{{{1, 1}, {1, 1}, {1, 1}}}, F::nv24},
                                         Sampling{{{{2, 1}, {2, 1}, {2, 1}}}, F::nv24},
                                         Sampling{{{{2, 2}, {1, 2}, {1, 2}}}, F::nv16},
                                         Sampling{{{{1, 2}, {1, 1}, {1, 1}}}, F::nv12},
                                         Sampling{{{{4, 1}, {1, 1}, {1, 1}}}, F::nv12},
                                         Sampling{{{{4, 2}, {1, 1}, {1, 1}}}, F::nv12},
                                         Sampling{{{{2, 2}, {2, 1}, {1, 2}}}, F::nv12},
                                         Sampling{{{{2, 2}, {1, 1}, {2, 2}}}, F::nv12}));

TEST(Jpeg, one_scan_per_component_is_decoded) {
  expect_native(test::make_jpeg({.interleaved = false}), F::nv12);
  // Twelve blocks would be too many for one scan.
  expect_native(test::make_jpeg({.sampling = {{{2, 2}, {2, 2}, {2, 2}}}, .interleaved = false}),
                F::nv24);
}

TEST(Jpeg, restart_markers_are_followed) {
  expect_native(test::make_jpeg({.width = 130, .restart_interval = 2}), F::nv12);
}

TEST(Jpeg, grey_with_two_by_two_sampling_is_in_raster_order) {
  const Bytes file = test::make_jpeg({.width = 45, .height = 51, .stored = Stored::grey});
  ASSERT_VALUE(const auto image, test::load(file));
  EXPECT_EQ(plane_bytes(image, 0), plain_jpeg(file, JCS_GRAYSCALE, true));
}

TEST(Jpeg, stored_rgb_stays_rgb) {
  Bytes file = test::make_jpeg({.stored = Stored::rgb, .sampling = {{{1, 1}, {1, 1}, {1, 1}}}});
  const auto expect_rgb = [&] {
    ASSERT_VALUE(const auto image, test::load(file));
    EXPECT_EQ(image.format(), F::rgb);
    EXPECT_EQ(image.colorimetry().encoding, ColorEncoding::unknown);
    EXPECT_EQ(plane_bytes(image, 0), plain_jpeg(file, JCS_RGB, true));
  };
  expect_rgb();
  // Only a JFIF segment means YCbCr: not another APP0, and not one that is too short.
  const Bytes plain = file;
  for (const auto& [name, bytes] : {std::pair("AVI1", 16), {"JFIF", 13}}) {
    SCOPED_TRACE(name);
    Bytes segment(static_cast<std::size_t>(2 + bytes));  // the marker and its length's bytes
    segment[0] = std::byte{0xFF};
    segment[1] = std::byte{0xE0};
    segment[3] = static_cast<std::byte>(bytes);
    std::memcpy(&segment[4], name, 4);
    file = plain;
    file.insert(file.begin() + 2, segment.begin(), segment.end());
    expect_rgb();
  }
}

TEST(Jpeg, rows_keep_the_destinations_pitch_and_padding) {
  for (const unsigned width : {16U, 33U, 319U, 320U}) {
    const Bytes file = test::make_jpeg({.width = width, .height = 35});
    for (const auto& [format, extra] :
         test::product({F::nv12, F::rgb, F::bgra, F::grey}, {0U, 2U, 38U})) {
      SCOPED_TRACE(testing::Message() << width << " " << to_string(format) << " +" << extra);
      auto guarded = test::make_guarded(width, 35, format, extra);
      const auto stride = guarded->tensor.row_stride_bytes();
      ASSERT_OK(load_into(guarded->tensor, file, {.format = format}));
      EXPECT_EQ(guarded->tensor.row_stride_bytes(), stride);
      EXPECT_TRUE(test::padding_is_intact(*guarded));
      const auto fresh = test::load(file, {.format = format});
      EXPECT_EQ(plane_bytes(guarded->tensor, 0, width), plane_bytes(*fresh, 0, width));
    }
  }
}

TEST(Jpeg, slice_of_a_larger_image_is_filled_and_the_rest_left_alone) {
  auto canvas = test::make_guarded(100, 80, F::nv12, 0);
  ASSERT_VALUE(auto window, canvas->tensor.slice({20, 10, 50, 37}));
  const Bytes file = test::make_jpeg({});
  ASSERT_TRUE(load_into(window, file));
  const auto fresh = test::load(file);
  EXPECT_EQ(plane_bytes(window, 0, 50), plane_bytes(*fresh, 0, 50));
  EXPECT_EQ(plane_bytes(window, 1), plane_bytes(*fresh, 1));
  const auto luma = plane_bytes(canvas->tensor, 0);
  for (const auto [y, x] : test::grid<std::size_t>(80, 100)) {
    const bool inside = x >= 20 && x < 70 && y >= 10 && y < 47;
    ASSERT_TRUE(inside || luma[y * 100 + x] == 0xA5) << x << ", " << y;
  }
}

}  // namespace
}  // namespace halyard
