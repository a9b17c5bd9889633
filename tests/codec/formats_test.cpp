// SPDX-License-Identifier: Apache-2.0
// WebP, TIFF, BMP and GIF: what is written is read again, and bad files are errors. Their pixels
// are held against Pillow's and OpenCV's in tests/oracle/test_images.py.
#include <algorithm>
#include <cstring>

#include "codec/support.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::Bytes;
using test::kind_of;
using test::load;

Tensor scene(PixelFormat format, DType dtype = DType::u8) {
  auto image = Tensor::create_image(23, 17, format, dtype, Memory::mem);
  const auto map = image->map(Access::write);
  const MappedPlane& plane = map->plane(0);
  for (const auto [y, i] : test::grid<std::size_t>(plane.rows, plane.row_bytes))
    plane.writable[y * plane.stride_bytes + i] = static_cast<std::byte>(y * 37 + i * 11 + i * i);
  return *std::move(image);
}

Bytes pixels_of(const Tensor& image) {
  const auto map = image.map(Access::read);
  const MappedPlane& plane = map->plane(0);
  Bytes out;
  for (std::size_t y = 0; y < plane.rows; ++y)
    out.insert(out.end(), plane.data + y * plane.stride_bytes,
               plane.data + y * plane.stride_bytes + plane.row_bytes);
  return out;
}

// A GIF of 3 x 2 pixels: green, blue, red; red, blue, green. With a block that makes one index
// show nothing.
constexpr std::array<unsigned char, 48> gif_bytes = {
    0x47, 0x49, 0x46, 0x38, 0x37, 0x61, 0x03, 0x00, 0x02, 0x00, 0x81, 0x00, 0x00, 0xFF, 0x00, 0x00,
    0x00, 0xFF, 0x00, 0x00, 0x00, 0xFF, 0x09, 0x09, 0x09, 0x2C, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00,
    0x02, 0x00, 0x00, 0x08, 0x09, 0x00, 0x01, 0x04, 0x10, 0x20, 0x20, 0x00, 0x80, 0x80, 0x00, 0x3B};

Bytes gif_file() {
  const auto bytes = std::as_bytes(std::span(gif_bytes));
  return {bytes.begin(), bytes.end()};
}

Bytes transparent_gif(unsigned index) {
  Bytes out = gif_file();
  const unsigned char block[] = {0x21, 0xF9, 4, 1, 0, 0, static_cast<unsigned char>(index), 0};
  const auto bytes = std::as_bytes(std::span(block));
  out[4] = std::byte{'9'};
  out.insert(out.begin() + 25, bytes.begin(), bytes.end());
  return out;
}

struct Sample {
  ImageFileType type;
  Bytes file;
};

// One of each kind that this build has.
std::vector<Sample> samples() {
  std::vector<Sample> out;
  const Tensor rgb = scene(F::rgb), rgba = scene(F::rgba);
  for (const ImageFileType type : {ImageFileType::webp, ImageFileType::tiff, ImageFileType::bmp}) {
    if (!kind_of(type).is_written) continue;
    out.push_back({type, *encode_image(rgb, type)});
    out.push_back({type, *encode_image(rgba, type)});
  }
  if (kind_of(ImageFileType::gif).is_read) {
    out.push_back({ImageFileType::gif, gif_file()});
    out.push_back({ImageFileType::gif, transparent_gif(1)});
  }
  return out;
}

TEST(Formats, kinds_are_told_by_bytes_and_by_names) {
  const auto kinds = image_file_kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kinds[i].type), i);
    EXPECT_EQ(to_string(kinds[i].type), kinds[i].name);
    for (const std::string_view extension : kinds[i].extensions)
      EXPECT_EQ(image_file_type("a.b/photo." + std::string(extension)), kinds[i].type);
  }
  EXPECT_EQ(image_file_type("PHOTO.TIF"), ImageFileType::tiff);
  for (const char* name : {"photo", "png", ".png", "a/.webp", "x.png/y", "x.heic", ""})
    EXPECT_FALSE(image_file_type(name)) << name;
  for (const auto& [type, file] : samples()) {
    EXPECT_EQ(image_file_type(file), type);
    EXPECT_EQ(peek(file)->type, type);
  }
  EXPECT_FALSE(image_file_type(Bytes(30, std::byte{'B'})));
}

TEST(Formats, kinds_that_the_build_lacks_name_their_package) {
  for (const ImageFileKind& kind : image_file_kinds()) {
    if (kind.is_read) continue;
    Bytes file(32);
    const std::string_view magic = kind.type == ImageFileType::webp   ? "RIFF1234WEBPVP8 "
                                   : kind.type == ImageFileType::tiff ? std::string_view("II*\0", 4)
                                                                      : "GIF89a";
    std::memcpy(file.data(), magic.data(), magic.size());
    EXPECT_FAILS(peek(file), Errc::unsupported, "-dev");
  }
}

TEST(Formats, lossless_files_give_back_what_was_written) {
  for (const PixelFormat format : {F::rgb, F::rgba, F::grey}) {
    const Tensor image = scene(format);
    for (const ImageFileType type :
         {ImageFileType::webp, ImageFileType::tiff, ImageFileType::bmp}) {
      if (!kind_of(type).is_written) continue;
      ASSERT_VALUE(const auto file, encode_image(image, type, {.webp = {.is_lossless = true}}));
      ASSERT_VALUE(const auto again, load(file, {.format = format}));
      // WebP stores grey as colours, and luma of equal colours is the same grey.
      EXPECT_EQ(pixels_of(again), pixels_of(image)) << to_string(type) << to_string(format);
      const bool is_webp_grey = type == ImageFileType::webp && format == F::grey;
      EXPECT_EQ(peek(file)->native_format, is_webp_grey ? F::rgb : format);
    }
  }
}

TEST(Formats, bgr_is_written_as_the_colours_that_it_holds) {
  Tensor bgr = scene(F::bgr);
  for (const ImageFileType type : {ImageFileType::webp, ImageFileType::bmp}) {
    if (!kind_of(type).is_written) continue;
    ASSERT_VALUE(const auto file, encode_image(bgr, type, {.webp = {.is_lossless = true}}));
    Bytes wanted = pixels_of(bgr);
    for (std::size_t i = 0; i + 2 < wanted.size(); i += 3)
      std::swap(wanted[i], wanted[i + 2]);
    EXPECT_EQ(pixels_of(*load(file)), wanted);
  }
}

TEST(Formats, every_destination_gets_the_same_image) {
  for (const auto& [type, file] : samples()) {
    LoadOptions options{.format = F::rgba};
    const auto wanted = pixels_of(*load(file, options));
    const auto header = peek(file);
    for (const DType dtype : {DType::i8, DType::u16, DType::f32}) {
      auto into = Tensor::create_image(header->width, header->height, F::rgba, dtype);
      ASSERT_TRUE(load_into(*into, file, options)) << to_string(type);
      const Bytes got = pixels_of(*into);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto value = std::to_integer<unsigned>(wanted[i]);
        if (dtype == DType::i8) {
          EXPECT_EQ(std::to_integer<unsigned>(got[i]), value ^ 0x80U);
        }
        std::uint16_t wide = 0;
        float real = 0;
        if (dtype == DType::u16) {
          std::memcpy(&wide, got.data() + 2 * i, 2);
          EXPECT_EQ(wide, value * 257);
        } else if (dtype == DType::f32) {
          std::memcpy(&real, got.data() + 4 * i, 4);
          EXPECT_EQ(real, static_cast<float>(value) / 255);
        }
      }
    }
    options.format = F::bgra;
    Bytes bgra = pixels_of(*load(file, options));
    for (std::size_t i = 0; i < bgra.size(); i += 4)
      std::swap(bgra[i], bgra[i + 2]);
    EXPECT_EQ(bgra, wanted) << to_string(type);
    options.format = F::nv12;
    EXPECT_FAILS(load(file, options), Errc::unsupported);
  }
}

TEST(Formats, padding_behind_rows_stays) {
  for (const auto& [type, file] : samples()) {
    const auto header = peek(file);
    auto wide = Tensor::create_image(header->width + 5, header->height, F::rgba);
    {
      const auto map = wide->map(Access::write);
      std::memset(map->plane(0).writable, 0x5A, map->plane(0).stride_bytes * map->plane(0).rows);
    }
    auto part = wide->slice(Region{0, 0, static_cast<std::int32_t>(header->width),
                                   static_cast<std::int32_t>(header->height)});
    const LoadOptions options{.format = F::rgba};
    ASSERT_TRUE(load_into(*part, file, options));
    EXPECT_EQ(pixels_of(*part), pixels_of(*load(file, options)));
    const auto map = wide->map(Access::read);
    const MappedPlane& plane = map->plane(0);
    for (std::size_t y = 0; y < plane.rows; ++y)
      for (std::size_t i = header->width * 4; i < (header->width + 5) * 4; ++i)
        ASSERT_EQ(plane.data[y * plane.stride_bytes + i], std::byte{0x5A}) << to_string(type);
  }
}

TEST(Formats, a_bmp_with_alpha_names_its_masks_and_colour_space) {
  ASSERT_VALUE(const auto file, encode_bmp(scene(F::rgba)));
  // BITMAPV4HEADER after 14 bytes: compression BI_BITFIELDS, masks of R, G, B, A, LCS_sRGB.
  const auto number = [&](std::size_t at) {
    std::uint32_t value;
    std::memcpy(&value, &file[14 + at], sizeof value);
    return value;
  };
  EXPECT_EQ(number(0), 108U);
  EXPECT_EQ(number(16), 3U);
  const std::uint32_t masks[] = {0xFF0000, 0xFF00, 0xFF, 0xFF000000};
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(number(40 + 4 * i), masks[i]);
  EXPECT_EQ(number(56), 0x73524742U);
}

TEST(Formats, a_tiff_of_16_bits_keeps_them) {
  if (!kind_of(ImageFileType::tiff).is_written) GTEST_SKIP() << "built without libtiff";
  for (const PixelFormat format : {F::grey, F::rgb, F::rgba}) {
    const Tensor image = scene(format, DType::u16);
    ASSERT_VALUE(const auto file, encode_tiff(image));
    EXPECT_EQ(peek(file)->bit_depth, 16);
    EXPECT_EQ(peek(file)->native_format, format);
    auto again = Tensor::create_image(23, 17, format, DType::u16);
    ASSERT_TRUE(load_into(*again, file));
    EXPECT_EQ(pixels_of(*again), pixels_of(image));
    if (format != F::grey) continue;
    // To 16 bits of three channels, by way of the row that is spread.
    auto colors = Tensor::create_image(23, 17, F::rgb, DType::u16);
    ASSERT_TRUE(load_into(*colors, file, {.format = F::rgb}));
    const Bytes grey = pixels_of(image), spread = pixels_of(*colors);
    for (std::size_t i = 0; i < grey.size(); i += 2)
      for (std::size_t c = 0; c < 3; ++c)
        ASSERT_EQ(std::memcmp(&spread[3 * i + 2 * c], &grey[i], 2), 0);
  }
}

TEST(Formats, a_gif_shows_its_palette_and_what_is_transparent) {
  if (!kind_of(ImageFileType::gif).is_read) GTEST_SKIP() << "built without giflib";
  ASSERT_VALUE(const auto image, load(gif_file()));
  EXPECT_EQ(image.format(), F::rgb);
  const Bytes rgb = pixels_of(image);
  const unsigned char wanted[] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 255, 0, 255, 0, 255, 0, 0};
  EXPECT_TRUE(std::equal(rgb.begin(), rgb.end(), std::as_bytes(std::span(wanted)).begin()));
  ASSERT_VALUE(const auto clear, load(transparent_gif(1)));
  EXPECT_EQ(clear.format(), F::rgba);
  const Bytes rgba = pixels_of(clear);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(std::to_integer<int>(rgba[4 * i + 3]), i == 1 || i == 4 ? 0 : 255) << i;
}

TEST(Formats, a_gif_frame_that_does_not_fill_the_image_leaves_it_transparent) {
  if (!kind_of(ImageFileType::gif).is_read) GTEST_SKIP() << "built without giflib";
  Bytes file = gif_file();
  file[6] = std::byte{5};   // the image's columns
  file[8] = std::byte{4};   // and rows
  file[26] = std::byte{1};  // the frame's place
  file[28] = std::byte{2};
  ASSERT_VALUE(const auto image, load(file));
  ASSERT_EQ(image.format(), F::rgba);
  const Bytes rgba = pixels_of(image);
  for (const auto [y, x] : test::grid<std::size_t>(4, 5))
    EXPECT_EQ(std::to_integer<int>(rgba[4 * (5 * y + x) + 3]), y >= 2 && x >= 1 && x < 4 ? 255 : 0);
  file[26] = std::byte{3};
  EXPECT_FAILS(load(file), Errc::corrupt);  // beyond the right side
}

TEST(Formats, colours_that_a_palette_lacks_are_an_error) {
  if (kind_of(ImageFileType::gif).is_read) {
    Bytes file = gif_file();
    file[10] = std::byte{0x80};  // two colours of the four
    file.erase(file.begin() + 19, file.begin() + 25);
    EXPECT_FAILS(load(file), Errc::corrupt);
  }
  Bytes bmp = *encode_bmp(scene(F::grey));
  bmp[46] = std::byte{3};  // colours that are used
  bmp[47] = std::byte{0};
  EXPECT_FAILS(load(bmp), Errc::corrupt);
}

TEST(Formats, cut_files_are_errors_at_every_length) {
  for (const auto& [type, file] : samples()) {
    for (std::size_t length = 18; length < file.size(); ++length) {
      const auto cut = std::span(file).first(length);
      const auto image = load_image(cut);
      // A GIF is whole without its last byte, which says that there is no more.
      if (image && type == ImageFileType::gif && length + 1 == file.size()) continue;
      // libwebp and libtiff do not need what follows the pixels.
      if (image && (type == ImageFileType::webp || type == ImageFileType::tiff)) {
        EXPECT_EQ(pixels_of(*image), pixels_of(*load(file)));
        continue;
      }
      EXPECT_FALSE(image) << to_string(type) << " cut at " << length;
      if (image) continue;
      EXPECT_NE(image.error().code, Errc::ok);
      EXPECT_FALSE(image.error().message().empty());
    }
  }
}

TEST(Formats, changed_bytes_are_an_error_or_another_image) {
  for (const auto& [type, file] : samples()) {
    for (std::size_t at = 0; at < std::min<std::size_t>(file.size(), 400); ++at) {
      for (const unsigned value : {0x00U, 0xFFU, 0x80U, 0x01U}) {
        Bytes changed = file;
        changed[at] = static_cast<std::byte>(value);
        const auto image = load(changed, {.limits = {.max_pixels = 1U << 20}});
        if (image) continue;
        EXPECT_FALSE(image.error().message().empty()) << to_string(type);
      }
    }
  }
}

TEST(Formats, limits_count_before_pixels) {
  for (const auto& [type, file] : samples()) {
    for (const auto field : {&DecodeLimits::max_width, &DecodeLimits::max_height,
                             &DecodeLimits::max_pixels, &DecodeLimits::max_bytes}) {
      LoadOptions options;
      options.limits.*field = 1;
      EXPECT_FAILS(load(file, options), Errc::invalid_argument) << to_string(type);
    }
  }
  Bytes bmp = *encode_bmp(scene(F::grey));
  for (const std::size_t at : {18U, 22U})
    std::memcpy(&bmp[at], "\xFF\xFF\xFF\x7F", 4);
  EXPECT_FAILS(load(bmp), Errc::invalid_argument);
}

TEST(Formats, decoding_can_be_cancelled) {
  for (const auto& [type, file] : samples()) {
    LoadOptions options;
    options.is_cancelled = [] { return true; };
    EXPECT_FAILS(load(file, options), Errc::cancelled) << to_string(type);
  }
}

TEST(Formats, orientations_go_both_ways_where_the_file_has_them) {
  for (const ImageFileType type : {ImageFileType::webp, ImageFileType::tiff}) {
    if (!kind_of(type).is_written) continue;
    Tensor image = scene(F::rgb);
    for (const auto& [flip, turn] :
         test::product({Flip::none, Flip::horizontal},
                       {Rotation::none, Rotation::cw90, Rotation::cw180, Rotation::cw270})) {
      image.set_orientation({flip, turn});
      ASSERT_VALUE(const auto file, encode_image(image, type));
      ASSERT_VALUE(const auto again, load(file));
      EXPECT_EQ(again.upright_size(), image.upright_size());
      EXPECT_EQ(then(again.orientation(), {}), then(image.orientation(), {}));
    }
  }
  Tensor rotated = scene(F::rgb);
  rotated.set_orientation({Flip::none, Rotation::cw90});
  EXPECT_FAILS(encode_bmp(rotated), Errc::unsupported);
}

TEST(Formats, what_cannot_be_written_is_refused) {
  const Tensor rgb = scene(F::rgb);
  EXPECT_FAILS(encode_image(rgb, ImageFileType::gif), Errc::unsupported);
  EXPECT_FAILS(save_image(rgb, "x.gif"), Errc::unsupported);
  const auto refused = save_image(rgb, "x.txt");
  EXPECT_FAILS(refused, Errc::invalid_argument);
  for (const ImageFileKind& kind : image_file_kinds()) {
    for (const std::string_view extension : kind.extensions) {
      const std::string word = " ." + std::string(extension) + " ";
      const std::string text = refused.error().message() + " ";
      EXPECT_EQ(text.find(word) != text.npos, kind.is_written) << text;
      const std::string path = "no/such/folder/x." + std::string(extension);
      EXPECT_EQ(save_image(rgb, path).error().code,
                kind.is_written ? Errc::not_found : Errc::unsupported);
    }
  }
  EXPECT_FAILS(encode_bmp(scene(F::rgb, DType::u16)), Errc::unsupported);
  const Tensor bare = *Tensor::create(DType::u8, {4, 4});
  EXPECT_FALSE(encode_bmp(bare));
  EXPECT_FALSE(encode_tiff(bare));
  EXPECT_FALSE(encode_webp(bare));
  if (kind_of(ImageFileType::webp).is_written) {
    EXPECT_FAILS(encode_webp(rgb, {.quality = 101}), Errc::invalid_argument);
    EXPECT_FAILS(encode_webp(*Tensor::create_image(16384, 1, F::grey)), Errc::invalid_argument);
  }
}

}  // namespace
}  // namespace halyard
