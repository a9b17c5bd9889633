// SPDX-License-Identifier: Apache-2.0
// Encoding: round trips, row pitch, refusals.
#include <cstdio>
#include <cstdlib>
#include <cstring>
// jpeglib.h needs stdio.
#include <jpeglib.h>

#include "codec/support.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::Bytes;
using test::plane_bytes;

// Smooth values, so that a good JPEG stays near them.
void paint(const Tensor& image) {
  const auto map = image.map(Access::write);
  const bool pairs = info(*image.format()).kind == FormatKind::semi_planar;
  for (std::size_t p = 0; p < map->plane_count(); ++p) {
    const auto& plane = map->plane(p);
    // The unused byte behind an odd luma row stays as it is.
    const bool luma = p == 0 && info(*image.format()).model == ColorModel::yuv;
    const std::size_t row_bytes = luma ? image.width() : plane.row_bytes;
    const std::size_t step = pairs && p == 1 ? 2 : info(*image.format()).channels;
    for (const auto [y, x] : test::grid<std::size_t>(plane.rows, row_bytes)) {
      const std::size_t value = 60 + x / step + y + 25 * (x % step) + 10 * p;
      plane.writable[y * plane.stride_bytes + x] =
          static_cast<std::byte>(std::min<std::size_t>(value, 250));
    }
  }
}

int largest_difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  if (a.size() != b.size()) return 256;
  int maximum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    maximum = std::max(maximum, std::abs(a[i] - b[i]));
  return maximum;
}

TEST(EncodeJpeg, planes_come_back_without_a_colour_conversion) {
  for (const auto& [format, native] : {std::pair{F::nv12, F::nv12},
                                       {F::nv16, F::nv16},
                                       {F::nv24, F::nv24},
                                       {F::i420, F::nv12},
                                       {F::grey, F::grey}}) {
    for (const auto& [width, height] :
         test::product({1U, 2U, 15U, 16U, 33U, 64U, 72U}, {1U, 2U, 17U, 32U})) {
      SCOPED_TRACE(testing::Message() << to_string(format) << " " << width << " x " << height);
      auto guarded = test::make_guarded(width, height, format, 6);
      paint(guarded->tensor);
      guarded->tensor.set_colorimetry(Colorimetry::jpeg());
      ASSERT_VALUE(const auto file, encode_jpeg(guarded->tensor, {.quality = 100}));
      EXPECT_TRUE(test::padding_is_intact(*guarded));
      ASSERT_EQ(peek(file)->native_format, native);
      ASSERT_VALUE(const auto back, test::load(file));
      EXPECT_LE(
          largest_difference(plane_bytes(back, 0, width), plane_bytes(guarded->tensor, 0, width)),
          3);
      if (format == F::grey) continue;
      auto sent = plane_bytes(guarded->tensor, 1);
      if (format == F::i420) {
        const auto cb = sent, cr = plane_bytes(guarded->tensor, 2);
        sent.clear();
        for (std::size_t i = 0; i < cb.size(); ++i)
          sent.insert(sent.end(), {cb[i], cr[i]});
      }
      EXPECT_LE(largest_difference(plane_bytes(back, 1), sent), 3);
    }
  }
}

// One level in each block of 8 x 8 samples of a component, neighbours far apart. Blocks that the
// image does not fill stay of one level when their last samples are repeated.
int block_level(std::size_t component, std::size_t x, std::size_t y) {
  const bool is_bright = (x / 8 + y / 8 + component) % 2 != 0;
  return is_bright ? 210 : 45;
}

// Calls `each(component, x, y, sample)` for all samples of a map of grey or of YCbCr planes.
template <class Each>
void for_each_sample(const TensorMap& map, std::size_t width, Each each) {
  for (std::size_t p = 0; p < map.plane_count(); ++p) {
    const auto& plane = map.plane(p);
    const std::size_t step = p == 1 && map.plane_count() == 2 ? 2 : 1;
    const std::size_t row_bytes = p == 0 ? width : plane.row_bytes;
    for (const auto [y, x] : test::grid<std::size_t>(plane.rows, row_bytes))
      each(p + x % step, x / step, y, plane.writable[y * plane.stride_bytes + x]);
  }
}

TEST(EncodeJpeg, blocks_that_the_image_does_not_fill_do_not_ring) {
  for (const auto& [format, width, height, quality] :
       test::product({F::nv12, F::nv16, F::nv24, F::i420, F::grey}, {9U, 17U, 23U, 34U}, {9U, 18U},
                     {50, 75, 90})) {
    SCOPED_TRACE(testing::Message() << to_string(format) << " " << width << " x " << height
                                    << ", quality " << quality);
    auto image = *Tensor::create_image(width, height, format);
    image.set_colorimetry(Colorimetry::jpeg());
    for_each_sample(*image.map(Access::write), width,
                    [](std::size_t c, std::size_t x, std::size_t y, std::byte& sample) {
                      sample = static_cast<std::byte>(block_level(c, x, y));
                    });
    ASSERT_VALUE(const auto file, encode_jpeg(image, {.quality = quality}));
    ASSERT_VALUE(const auto back, test::load(file));
    int maximum = 0;
    for_each_sample(*back.map(Access::read_write), width,
                    [&](std::size_t c, std::size_t x, std::size_t y, std::byte sample) {
                      maximum = std::max(
                          maximum, std::abs(std::to_integer<int>(sample) - block_level(c, x, y)));
                    });
    EXPECT_LE(maximum, 2);  // a block of one level is one rounded number
  }
}

TEST(EncodeJpeg, packed_colours_in_any_order_give_one_image) {
  std::optional<Bytes> first;
  for (const PixelFormat format : {F::rgb, F::bgr, F::rgba, F::bgra}) {
    auto guarded = test::make_guarded(37, 21, format, 5);
    const auto map = guarded->tensor.map(Access::write);
    const bool blue_first = format == F::bgr || format == F::bgra;
    const std::size_t channels = info(format).channels;
    for (const auto [y, x] : test::grid<std::size_t>(21, 37)) {
      auto* pixel = map->plane(0).writable + y * map->plane(0).stride_bytes + x * channels;
      pixel[blue_first ? 2 : 0] = static_cast<std::byte>(x * 5);
      pixel[1] = static_cast<std::byte>(y * 9);
      pixel[blue_first ? 0 : 2] = static_cast<std::byte>(255 - x * 3);
    }
    ASSERT_VALUE(const auto file, encode_jpeg(guarded->tensor));
    if (!first) first = file;
    EXPECT_EQ(file, *first) << to_string(format);
  }
  const auto back = test::plain_jpeg(*first, JCS_RGB, true);
  EXPECT_NEAR(back[3 * (10 * 37 + 18)], 90, 12);
  EXPECT_NEAR(back[3 * (10 * 37 + 18) + 1], 90, 12);
}

TEST(EncodeJpeg, quality_changes_the_size) {
  const auto image = Tensor::create_image(64, 64, F::rgb);
  paint(*image);
  EXPECT_LT(encode_jpeg(*image, {.quality = 10})->size(),
            encode_jpeg(*image, {.quality = 100})->size());
}

TEST(EncodeJpeg, output_larger_than_the_first_buffer_is_whole) {
  auto image = Tensor::create_image(640, 480, F::rgb);
  const auto map = image->map(Access::write);
  std::uint32_t state = 1;
  const auto samples = *map->flat<std::uint8_t>();
  for (auto& v : samples)
    v = static_cast<std::uint8_t>((state = state * 1664525U + 1013904223U) >> 24);
  ASSERT_VALUE(const auto file, encode_jpeg(*image, {.quality = 100}));
  EXPECT_GT(file.size(), std::size_t{1} << 18);
  EXPECT_TRUE(test::load(file));
}

TEST(EncodeJpeg, refusals_name_their_reason) {
  const auto rgb = Tensor::create_image(8, 8, F::rgb);
  EXPECT_FAILS(encode_jpeg(*rgb, {.quality = 0}), Errc::invalid_argument);
  EXPECT_FAILS(encode_jpeg(*rgb, {.quality = 101}), Errc::invalid_argument);
  EXPECT_FAILS(encode_jpeg(*Tensor::create_image(8, 8, F::planar_rgb)), Errc::unsupported);
  EXPECT_FAILS(encode_jpeg(*Tensor::create_image(8, 8, F::rgb, DType::f32)), Errc::unsupported);
  EXPECT_FAILS(encode_jpeg(*Tensor::create(DType::u8, {8, 8, 3})), Errc::invalid_argument);
  EXPECT_FAILS(encode_jpeg(Tensor()), Errc::invalid_argument);
  EXPECT_FAILS(encode_jpeg(*Tensor::create_image(65501, 1, F::grey)), Errc::invalid_argument);
}

TEST(EncodeJpeg, limited_range_or_bt709_planes_are_not_mislabelled) {
  auto image = Tensor::create_image(8, 8, F::nv12);
  EXPECT_FAILS(encode_jpeg(*image), Errc::unsupported) << "unknown means limited";
  image->set_colorimetry({.encoding = ColorEncoding::bt709, .range = ColorRange::full});
  EXPECT_FAILS(encode_jpeg(*image), Errc::unsupported);
  image->set_colorimetry({.encoding = ColorEncoding::bt601, .range = ColorRange::limited});
  EXPECT_FAILS(encode_jpeg(*image), Errc::unsupported);
  image->set_colorimetry({.encoding = ColorEncoding::bt601, .range = ColorRange::full});
  EXPECT_TRUE(encode_jpeg(*image));
}

TEST(EncodePng, every_format_comes_back_exactly) {
  for (const auto& [format, width, compression] :
       test::product({F::rgb, F::rgba, F::grey}, {1U, 7U, 64U}, {0, 6, 9})) {
    auto guarded = test::make_guarded(width, 9, format, 11);
    paint(guarded->tensor);
    ASSERT_VALUE(const auto file, encode_png(guarded->tensor, {.compression = compression}));
    ASSERT_VALUE(const auto back, test::load(file));
    EXPECT_EQ(back.format(), format);
    EXPECT_EQ(plane_bytes(back, 0), plane_bytes(guarded->tensor, 0));
  }
}

// As cameras give them: smooth, and noisy in the lowest bits. Channels share most of the noise.
std::vector<std::uint8_t> photo_like(std::size_t width, std::size_t height, std::size_t channels) {
  std::vector<std::uint8_t> out;
  std::uint32_t state = 99;
  const auto noise = [&state] {
    state = state * 1664525U + 1013904223U;
    return (state >> 16) % 4;
  };
  for (const auto [y, x] : test::grid<std::size_t>(height, width)) {
    const std::size_t luma = x / 3 + y / 2 + noise() + noise() + noise();
    for (std::size_t c = 0; c < channels; ++c)
      out.push_back(static_cast<std::uint8_t>(luma + 20 * c + (c == 0 ? 0 : noise() / 3)));
  }
  return out;
}

TEST(EncodePng, files_are_at_most_2_percent_larger_than_libspngs) {
  constexpr std::size_t width = 300, height = 200;
  const std::pair<PixelFormat, int> formats[] = {{F::grey, 0}, {F::rgb, 2}, {F::rgba, 6}};
  for (const auto& [format, color_type] : formats) {
    const auto samples = photo_like(width, height, info(format).channels);
    const auto image = Tensor::create_image(width, height, format);
    const auto map = image->map(Access::write);
    const auto& plane = map->plane(0);
    for (std::size_t y = 0; y < height; ++y)
      std::memcpy(plane.writable + y * plane.stride_bytes, &samples[y * plane.row_bytes],
                  plane.row_bytes);
    const auto ours = encode_png(*image)->size();
    // libspng's default level is ours, 6.
    const auto theirs = test::make_png({.width = width, .height = height, .color_type = color_type},
                                       std::as_bytes(std::span(samples)))
                            .size();
    EXPECT_LE(static_cast<double>(ours), 1.02 * static_cast<double>(theirs)) << to_string(format);
  }
}

TEST(EncodePng, refusals_name_their_reason) {
  const auto rgb = Tensor::create_image(8, 8, F::rgb);
  EXPECT_FAILS(encode_png(*rgb, {.compression = -1}), Errc::invalid_argument);
  EXPECT_FAILS(encode_png(*rgb, {.compression = 10}), Errc::invalid_argument);
  EXPECT_FAILS(encode_png(*Tensor::create_image(8, 8, F::nv12)), Errc::unsupported);
  EXPECT_FAILS(encode_png(*Tensor::create_image(8, 8, F::rgb, DType::f32)), Errc::unsupported);
  EXPECT_FAILS(encode_png(Tensor()), Errc::invalid_argument);
}

TEST(EncodeJpeg, sides_are_at_most_65500) {
  for (const auto& [width, height] : std::vector<std::pair<std::size_t, std::size_t>>{
           {65500, 1}, {1, 65500}, {65501, 1}, {1, 65501}}) {
    const auto file = encode_jpeg(*Tensor::create_image(width, height, PixelFormat::grey));
    if (std::max(width, height) == 65500) {
      ASSERT_OK(file);
      EXPECT_EQ(peek(*file)->width, width);
      EXPECT_EQ(peek(*file)->height, height);
    } else {
      EXPECT_FAILS(file, Errc::invalid_argument, "at most 65500");
    }
  }
}

}  // namespace
}  // namespace halyard
