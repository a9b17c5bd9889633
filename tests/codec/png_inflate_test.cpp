// SPDX-License-Identifier: Apache-2.0
// Files that are inflated at once give the pixels that libspng gives; all others are left to it.
#include "codec/png/png_inflate.h"

#include <limits>
#include <random>

#include "codec/png/png_decode.h"
#include "codec/png_writer.h"
#include "support/product.h"
#include "support/properties.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::Bytes;
using test::png_chunk;
using test::RawPng;

constexpr std::size_t any_memory = std::numeric_limits<std::size_t>::max();

// Rows of random bytes, each behind a filter of its own; equal runs make matches.
std::string random_rows(const RawPng& spec, std::mt19937& random) {
  std::string out;
  for (unsigned y = 0; y < spec.height; ++y) {
    out += static_cast<char>(random() % 5);
    for (std::size_t i = 0; i < spec.width * test::png_pixel_bytes(spec); ++i) {
      const bool repeats = random() % 2 == 0;
      out += repeats ? out.back() : static_cast<char>(random());
    }
  }
  return out;
}

bool is_inflated(const Bytes& file, std::size_t spare_bytes = any_memory) {
  const auto header = codec::parse_png_header(file, {});
  return header && codec::inflate_rows(file, *header, spare_bytes).has_value();
}

// Bytes of the image, or the error's message; `spare_bytes` 0 is libspng's way.
std::string decoded(const Bytes& file, PixelFormat format, DType dtype, std::size_t spare_bytes) {
  const auto header = codec::parse_png_header(file, {});
  if (!header) return header.error().message();
  const auto image = *Tensor::create_image(header->info.width, header->info.height, format, dtype);
  const auto status =
      codec::decode_png(file, *header, format, *image.map(Access::write), spare_bytes);
  if (!status) return status.error().message();
  const auto bytes = test::plane_bytes(image, 0);
  return {bytes.begin(), bytes.end()};
}

void expect_equal_ways(const Bytes& file) {
  for (const auto& [format, dtype] : test::product({F::rgb, F::rgba, F::bgra, F::grey},
                                                   {DType::u8, DType::i8, DType::u16, DType::f32}))
    ASSERT_TRUE(decoded(file, format, dtype, any_memory) == decoded(file, format, dtype, 0))
        << to_string(format) << " " << to_string(dtype);
}

struct SampleKind {
  int color_type, depth;
};
constexpr SampleKind sample_kinds[] = {{0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 8},
                                       {4, 8}, {4, 16}, {6, 8}, {6, 16}};

// A palette of `colors` entries, with alpha for `clear` of them.
std::string palette(unsigned colors, unsigned clear) {
  std::string entries, alpha;
  for (unsigned i = 0; i < colors * 3; ++i)
    entries += static_cast<char>(i * 37);
  for (unsigned i = 0; i < clear; ++i)
    alpha += static_cast<char>(i * 91);
  return png_chunk("PLTE", entries) + (clear == 0 ? "" : png_chunk("tRNS", alpha));
}

RawPng random_image(const SampleKind& kind, unsigned width, unsigned height, unsigned seed) {
  std::mt19937 random(seed);
  RawPng spec{.width = width, .height = height, .depth = kind.depth, .color_type = kind.color_type};
  // Indices beyond the palette are black.
  if (kind.color_type == 3) spec.before_data = palette(1 + random() % 256, random() % 2);
  spec.data_chunk = 1 + random() % 400;
  spec.data = test::zlib_stream(random_rows(spec, random), static_cast<int>(random() % 10));
  return spec;
}

TEST(PngInflate, every_kind_and_filter_gives_libspngs_pixels) {
  for (const SampleKind& kind : sample_kinds) {
    SCOPED_TRACE("type " + std::to_string(kind.color_type) + ", " + std::to_string(kind.depth));
    for (const unsigned width : {1U, 2U, 3U, 5U, 16U, 21U, 67U}) {
      const Bytes file = test::png_file(random_image(kind, width, 13, width));
      ASSERT_TRUE(is_inflated(file));
      expect_equal_ways(file);
    }
  }
}

#if defined(HALYARD_RAPIDCHECK)
TEST(PngInflate, random_images_give_libspngs_pixels) {
  test::check_property(150, [] {
    const auto kind = *rc::gen::elementOf(
        std::vector<SampleKind>(std::begin(sample_kinds), std::end(sample_kinds)));
    const auto width = *rc::gen::inRange(1U, 130U);
    const auto height = *rc::gen::inRange(1U, 24U);
    const auto seed = *rc::gen::arbitrary<unsigned>();
    const Bytes file = test::png_file(random_image(kind, width, height, seed));
    RC_ASSERT(is_inflated(file));
    for (const PixelFormat format : {F::rgb, F::bgra, F::grey}) {
      for (const DType dtype : {DType::u8, DType::u16})
        RC_ASSERT(decoded(file, format, dtype, any_memory) == decoded(file, format, dtype, 0));
    }
  });
}
#endif

RawPng plain() {
  return random_image({2, 8}, 9, 11, 3);
}

// The rows of plain() as they are inflated.
std::string plain_rows() {
  std::mt19937 random(5);
  return random_rows({.width = 9, .height = 11}, random);
}

TEST(PngInflate, metadata_behind_the_data_changes_nothing) {
  RawPng spec = plain();
  spec.after_data = png_chunk("tEXt", std::string("date\0now", 8)) + png_chunk("tIME", "1234567") +
                    png_chunk("eXIf", "II*") + png_chunk("tEXt", "no keyword ends");
  EXPECT_TRUE(is_inflated(test::png_file(spec)));
  expect_equal_ways(test::png_file(spec));
}

TEST(PngInflate, bytes_behind_the_stream_are_ignored_as_libspng_does) {
  RawPng spec = plain();
  spec.data += "surplus";
  EXPECT_TRUE(is_inflated(test::png_file(spec)));
  expect_equal_ways(test::png_file(spec));
}

TEST(PngInflate, odd_files_are_left_to_libspng) {
  std::vector<std::pair<const char*, RawPng>> files;
  const auto add = [&](const char* what) -> RawPng& {
    return files.emplace_back(what, plain()).second;
  };
  add("transparent colour").before_data = png_chunk("tRNS", std::string(6, '\1'));
  add("critical chunk behind the data").after_data = png_chunk("ABCD", "x");
  add("unknown chunk behind the data").after_data = png_chunk("abCd", "x");
  add("empty chunk behind the data").after_data = png_chunk("eXIf", "");
  add("compressed text behind the data").after_data = png_chunk("zTXt", "x");
  add("more data later").after_data = png_chunk("tIME", "1234567") + png_chunk("IDAT", "x");
  RawPng& many = add("many chunks behind the data");
  for (int i = 0; i < 1100; ++i)
    many.after_data += png_chunk("tEXt", std::string("k\0v", 3));
  add("much metadata").after_data = png_chunk("tEXt", std::string(70'000, 'x'));
  add("late checksum").after_data = png_chunk("tIME", "1234567").replace(10, 1, "0");
  add("short stream").data = test::zlib_stream(plain_rows().substr(0, 100));
  add("long stream").data = test::zlib_stream(plain_rows() + "0");
  add("cut stream").data.resize(60);
  add("no stream").data = "x";
  add("a dictionary").data = std::string("\x78\xBB", 2) + plain().data.substr(2);
  add("wrong zlib header").data[1] = static_cast<char>(files.back().second.data[1] ^ 1);
  std::string rows = plain_rows();
  rows[5 * 28] = 5;
  RawPng& sum = add("wrong sum at the stream's end");
  sum.data.back() = static_cast<char>(sum.data.back() ^ 1);
  add("unknown filter").data = test::zlib_stream(rows);
  add("damaged deflate").data = std::string("\x78\x9C\xFF\xFF", 4) + std::string(100, '\xFF');
  for (const auto& [what, spec] : files) {
    SCOPED_TRACE(what);
    const Bytes file = test::png_file(spec);
    EXPECT_FALSE(is_inflated(file));
    // The same pixels, or the same error, with any memory and with none.
    expect_equal_ways(file);
  }
  EXPECT_FALSE(
      is_inflated(test::make_png({.width = 9, .height = 9, .interlaced = true}, Bytes(243))));
  EXPECT_FALSE(is_inflated(
      test::make_png({.width = 9, .height = 9, .depth = 4, .color_type = 0}, Bytes(45))));
}

TEST(PngInflate, wrong_checksum_of_any_data_chunk_is_left_to_libspng) {
  RawPng spec = plain();
  spec.data_chunk = 50;
  Bytes file = test::png_file(spec);
  ASSERT_TRUE(is_inflated(file));
  // Behind the signature and the header: the first data chunk's checksum, then the next one's.
  for (const std::size_t at : {33U + 8U + 50U, 33U + 62U + 8U + 50U}) {
    Bytes damaged = file;
    damaged[at] ^= std::byte{1};
    EXPECT_FALSE(is_inflated(damaged));
    EXPECT_FAILS(test::load(damaged), Errc::corrupt);
  }
}

TEST(PngInflate, stays_within_the_memory_that_may_be_taken) {
  RawPng spec = plain();
  const std::size_t rows = spec.height * (spec.width * 3 + 1);
  EXPECT_FALSE(is_inflated(test::png_file(spec), rows + spec.data.size() - 1));
  EXPECT_TRUE(is_inflated(test::png_file(spec), rows + spec.data.size()));
  // One chunk is inflated where it lies.
  spec.data_chunk = spec.data.size();
  EXPECT_FALSE(is_inflated(test::png_file(spec), rows - 1));
  EXPECT_TRUE(is_inflated(test::png_file(spec), rows));
  EXPECT_TRUE(
      test::load(test::png_file(spec), {.limits = {.max_bytes = spec.width * spec.height * 3}}));
}

TEST(PngInflate, no_more_than_the_header_says_is_inflated) {
  // 64 MB of rows behind a header of 8 x 8.
  const RawPng bomb{.data = test::zlib_stream(std::string(std::size_t{64} << 20, '\0'), 9),
                    .data_chunk = 1 << 20};
  const Bytes file = test::png_file(bomb);
  EXPECT_FALSE(is_inflated(file, 1000 + bomb.data.size()));
  EXPECT_TRUE(test::load(file)) << "libspng reads its first 8 rows";
}

TEST(PngInflate, cancelling_is_asked_before_each_row) {
  const Bytes file = test::png_file(plain());
  ASSERT_TRUE(is_inflated(file));
  int asked = 0;
  LoadOptions options;
  options.is_cancelled = [&asked] { return ++asked == 6; };
  EXPECT_FAILS(test::load(file, options), Errc::cancelled);
  EXPECT_EQ(asked, 6);
  options.is_cancelled = [&asked] { return ++asked < 0; };
  asked = 0;
  ASSERT_TRUE(test::load(file, options));
  EXPECT_EQ(asked, 11);
}

}  // namespace
}  // namespace halyard
