// SPDX-License-Identifier: Apache-2.0
// EXIF orientation: flip, then clockwise turn, beside pixels that stay as stored; both ways.
#include "codec/exif.h"

#include "codec/support.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard {
namespace {

using test::Bytes;

constexpr Orientation expected[9] = {{},
                                     {Flip::none, Rotation::none},
                                     {Flip::horizontal, Rotation::none},
                                     {Flip::none, Rotation::cw180},
                                     {Flip::horizontal, Rotation::cw180},
                                     {Flip::horizontal, Rotation::cw270},
                                     {Flip::none, Rotation::cw90},
                                     {Flip::horizontal, Rotation::cw90},
                                     {Flip::none, Rotation::cw270}};

std::string app1(const std::string& tiff) {
  return std::string("Exif\0\0", 6) + tiff;
}

TEST(Exif, photos_report_their_tag_and_their_stored_size) {
  for (int tag = 1; tag <= 8; ++tag) {
    HALYARD_PHOTO(file, "bus_320_exif_" + std::to_string(tag) + ".jpg");
    ASSERT_VALUE(const auto header, peek(file));
    EXPECT_EQ(header.exif_orientation, tag);
    EXPECT_EQ(header.orientation, expected[tag]);
    EXPECT_EQ(header.width, tag <= 4 ? 240U : 320U);
    EXPECT_EQ(header.height, tag <= 4 ? 320U : 240U);
    ASSERT_VALUE(const auto image, test::load(file));
    EXPECT_EQ(image.width(), header.width);
    EXPECT_EQ(image.upright_size(), (Size{240, 320}));
  }
}

// Every pixel tells where it is.
Tensor chart() {
  const Tensor image = *Tensor::create_image(24, 16, PixelFormat::rgb);
  const auto map = image.map(Access::write);
  const auto pixels = *map->view<std::uint8_t, 3>();
  for (const auto [y, x] : test::grid<std::size_t>(16, 24)) {
    pixels(y, x, 0) = static_cast<std::uint8_t>(10 * x);
    pixels(y, x, 1) = static_cast<std::uint8_t>(15 * y);
  }
  return image;
}

TEST(Exif, is_written_and_read_with_the_tensor_that_carries_it) {
  Tensor image = chart();
  const auto png = *encode_png(image), jpeg = *encode_jpeg(image);
  for (const Bytes& plain : {png, jpeg})
    EXPECT_EQ(peek(plain)->exif_orientation, 0);
  for (int tag = 1; tag <= 8; ++tag) {
    SCOPED_TRACE(tag);
    image.set_orientation(expected[tag]);
    for (const bool is_png : {false, true}) {
      const Bytes file = is_png ? *encode_png(image) : *encode_jpeg(image);
      EXPECT_EQ(peek(file)->exif_orientation, tag == 1 ? 0 : tag);
      const Tensor back = *test::load(file);
      EXPECT_EQ(back.orientation(), expected[tag]);
      EXPECT_EQ(back.size(), image.size());
      if (is_png) {
        EXPECT_EQ(test::plane_bytes(back, 0), test::plane_bytes(image, 0));
      }
      // And into memory that is there.
      Tensor into = *Tensor::create_image(24, 16, PixelFormat::rgb);
      into.set_orientation({Flip::vertical, Rotation::cw90});
      ASSERT_TRUE(load_into(into, file, {.format = PixelFormat::rgb}));
      EXPECT_EQ(into.orientation(), expected[tag]);
    }
  }
  // Several ways to say one thing.
  image.set_orientation({Flip::vertical, Rotation::cw270});
  EXPECT_EQ(peek(*encode_jpeg(image))->exif_orientation, 7);
}

// Pixel (x, y) of the upright image, fetched from the stored one: undo the turn, then the flip.
std::uint8_t upright(const std::vector<std::uint8_t>& stored, std::size_t width, std::size_t height,
                     Orientation o, std::size_t x, std::size_t y) {
  std::size_t sx = x, sy = y;
  if (o.rotation == Rotation::cw90) sx = y, sy = height - 1 - x;
  if (o.rotation == Rotation::cw180) sx = width - 1 - x, sy = height - 1 - y;
  if (o.rotation == Rotation::cw270) sx = width - 1 - y, sy = x;
  if (o.flip == Flip::horizontal) sx = width - 1 - sx;
  return stored[sy * width + sx];
}

TEST(Exif, orientation_shows_every_photo_upright) {
  HALYARD_PHOTO(reference, "bus_320.jpg");
  const auto straight = test::plane_bytes(*test::load(reference), 0);
  for (int tag = 1; tag <= 8; ++tag) {
    HALYARD_PHOTO(file, "bus_320_exif_" + std::to_string(tag) + ".jpg");
    const auto info = peek(file);
    const auto stored = test::plane_bytes(*test::load(file), 0);
    for (const auto [y, x] : test::grid<std::size_t>(320, 240)) {
      const int seen = upright(stored, info->width, info->height, info->orientation, x, y);
      ASSERT_NEAR(seen, straight[y * 240 + x], 3) << "tag " << tag << " at " << x << ", " << y;
    }
  }
}

TEST(Exif, both_byte_orders_in_both_containers) {
  const std::vector<std::byte> pixel(3);
  for (int tag = 1; tag <= 8; ++tag) {
    for (const bool big : {false, true}) {
      const std::string tiff = test::tiff_orientation(tag, big);
      EXPECT_EQ(peek(test::make_jpeg({.exif = app1(tiff)}))->exif_orientation, tag);
      const Bytes png = test::make_png({.width = 1, .height = 1, .exif = tiff}, pixel);
      EXPECT_EQ(peek(png)->exif_orientation, tag);
      EXPECT_EQ(peek(png)->orientation, expected[tag]);
    }
  }
}

TEST(Exif, other_values_count_as_absent) {
  for (const int tag : {0, 9, 100}) {
    const Bytes jpeg = test::make_jpeg({.exif = app1(test::tiff_orientation(tag, true))});
    EXPECT_EQ(peek(jpeg)->exif_orientation, 0);
    EXPECT_EQ(peek(jpeg)->orientation, Orientation{});
  }
  EXPECT_EQ(peek(test::make_jpeg({}))->exif_orientation, 0);
}

TEST(Exif, up_to_two_values_are_in_the_entry_and_more_at_its_pointer) {
  std::string tiff = test::tiff_orientation(6, false);
  const auto with = [&](char count, char value) {
    tiff[14] = count;
    tiff[18] = value;
    return codec::exif_orientation_of_tiff(std::as_bytes(std::span(tiff)));
  };
  EXPECT_EQ(with(0, 6), 0);
  EXPECT_EQ(with(1, 6), 6);
  EXPECT_EQ(with(2, 6), 6);
  tiff += std::string("\5\0\5\0\5\0", 6);
  EXPECT_EQ(with(3, static_cast<char>(tiff.size() - 6)), 5);
}

TEST(Exif, hostile_payloads_are_survived) {
  const std::string whole = app1(test::tiff_orientation(6, true));
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const auto bytes = std::as_bytes(std::span(whole.data(), length));
    const int tag = codec::exif_orientation(bytes);
    EXPECT_TRUE(tag == 0 || tag == 6);
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int value : {0x00, 0x7F, 0xFF}) {
      std::string broken = whole;
      broken[at] = static_cast<char>(value);
      const int tag = codec::exif_orientation(std::as_bytes(std::span(broken)));
      EXPECT_TRUE(tag >= 0 && tag <= 8);
    }
  }
  EXPECT_EQ(codec::exif_orientation({}), 0);
  EXPECT_EQ(codec::exif_orientation_of_tiff({}), 0);
  const std::vector<std::byte> huge(1 << 20);
  EXPECT_EQ(codec::exif_orientation(huge), 0);
  EXPECT_EQ(codec::exif_orientation_of_tiff(huge), 0);
}

}  // namespace
}  // namespace halyard
