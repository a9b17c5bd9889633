// SPDX-License-Identifier: Apache-2.0
// Limits on products: scans times blocks, decoded bytes per byte of the file. What honest files
// need passes, what small hostile files ask for is refused before anything is decoded.
#include <cstring>
#include <string>

#include "codec/bombs.h"
#include "codec/exif.h"
#include "codec/jpeg/jpeg_decode.h"
#include "codec/jpeg/jpeg_scans.h"
#include "codec/png/png_header.h"
#include "codec/png_writer.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::Bytes;

// The image if it stays within `limits`.
Result<Tensor> within(const Bytes& file, const DecodeLimits& limits = {}) {
  return test::load(file, {.limits = limits});
}

void expect_beyond(const Bytes& file, std::string_view text, const DecodeLimits& limits = {}) {
  EXPECT_FAILS(within(file, limits), Errc::invalid_argument, text);
}

TEST(DecodeLimits, many_scans_over_a_large_image_are_refused_before_they_are_decoded) {
  const Bytes file = test::scan_bomb(16384, 882);
  ASSERT_LT(file.size(), 1'000'000U);
  const auto header = *codec::parse_jpeg_header(file, {});
  EXPECT_FAILS(codec::check_jpeg_scans(file, header, {}), Errc::invalid_argument);
  // The message has the scans, their visits and the factor that is to be raised.
  const auto image = within(file);
  EXPECT_FAILS(image, Errc::invalid_argument, "limits.max_scan_passes");
  EXPECT_FAILS(image, "883 scans visit 3703570432 blocks in an image of 4194304");
  EXPECT_FAILS(image, "24 times");
  expect_beyond(test::scan_bomb(16384, 24), "");
  expect_beyond(test::scan_bomb(8192, 200), "");
}

TEST(DecodeLimits, scans_of_small_images_pass_and_a_lower_factor_counts_for_large_ones) {
  EXPECT_OK(within(test::scan_bomb(512, 882)));
  // A script with a scan for each coefficient, on 17 Mpx: 2^18 blocks, 64 visits.
  EXPECT_OK(within(test::scan_bomb(4096, 63)));
  const Bytes wide = test::scan_bomb(8192, 63);  // 2^20 blocks
  expect_beyond(wide, "max_scan_passes");
  EXPECT_OK(
      codec::check_jpeg_scans(wide, *codec::parse_jpeg_header(wide, {}), {.max_scan_passes = 64}));
  EXPECT_OK(within(test::make_jpeg({.progressive = true})));
  EXPECT_OK(within(test::make_jpeg({.progressive = true, .restart_interval = 2})));
  EXPECT_OK(within(test::make_jpeg({.interleaved = false})));
}

TEST(DecodeLimits, number_of_scans_has_a_limit_of_its_own) {
  const Bytes file = test::scan_bomb(64, 15);
  EXPECT_OK(within(file, {.max_scans = 16}));
  expect_beyond(file, "limits.max_scans: 16 > 15", {.max_scans = 15});
}

TEST(DecodeLimits, scans_behind_the_end_of_the_image_do_not_count) {
  const Bytes file = test::scan_bomb(64, 15);
  Bytes several;
  for (int i = 0; i < 4; ++i)  // as files with previews behind the image
    several.insert(several.end(), file.begin(), file.end());
  EXPECT_OK(within(several, {.max_scans = 16}));
  expect_beyond(several, "limits.max_scans: 16 > 15", {.max_scans = 15});
}

TEST(DecodeLimits, scans_are_counted_while_they_are_decoded_too) {
  const Bytes file = test::scan_bomb(4096, 160);
  const auto header = *codec::parse_jpeg_header(file, {});
  const auto image = *Tensor::create_image(4096, 4096, F::grey);
  const auto map = image.map(Access::write);
  for (const DecodeLimits& limits : {DecodeLimits{.max_scans = 20}, DecodeLimits{}})
    EXPECT_FAILS(codec::decode_jpeg(file, header, F::grey, *map, limits), "scans");
}

TEST(DecodeLimits, small_files_of_huge_blank_images_are_refused) {
  const Bytes file = test::blank_png(16000, 16000, true);
  ASSERT_LT(file.size(), 40'000U);
  const auto image = within(file);
  EXPECT_FAILS(image, Errc::invalid_argument, "limits.max_expansion");
  EXPECT_FAILS(image, "1024000000 bytes from a file of");
  EXPECT_FAILS(image, "limits.expansion_floor");
  // 537 MB of rgba from half a megabyte, nearly 2000 to 1.
  EXPECT_FAILS(test::load(test::scan_bomb(16384, 3), {.format = F::rgba}), Errc::invalid_argument,
               "max_expansion");
}

TEST(DecodeLimits, blank_pages_pass) {
  EXPECT_OK(within(test::blank_png(4960, 7016))) << "A4, 600 dpi, 104 MB of rgb";
  EXPECT_OK(within(test::blank_png(7680, 4320, true))) << "8K, 133 MB of rgba";
  EXPECT_OK(within(test::scan_bomb(8192, 9))) << "a blank progressive JPEG of 67 Mpx";
}

TEST(DecodeLimits, expansion_counts_above_its_floor_only) {
  const Bytes file = test::blank_png(1000, 1000);
  EXPECT_OK(within(file, {.max_expansion = 10}));
  expect_beyond(file, "max_expansion", {.max_expansion = 10, .expansion_floor = 2'999'999});
  EXPECT_OK(within(file, {.max_expansion = 10, .expansion_floor = 3'000'000}));
}

TEST(DecodeLimits, bytes_count_pixels_and_what_decoding_holds_beside_them) {
  const Bytes plain = test::make_jpeg(
      {.width = 64, .height = 64, .stored = test::Stored::grey, .sampling = {{{1, 1}}}});
  expect_beyond(plain, "limits.max_bytes", {.max_bytes = 64 * 64 - 1});
  EXPECT_OK(within(plain, {.max_bytes = 64 * 64}));
  const Bytes progressive = test::scan_bomb(64, 1);
  expect_beyond(progressive, "limits.max_bytes", {.max_bytes = 64 * 64});
  EXPECT_OK(within(progressive, {.max_bytes = 64 * 64 * 3})) << "a coefficient takes two bytes";
  expect_beyond(test::blank_png(64, 64, false, true), "max_bytes", {.max_bytes = 64 * 64 * 7 - 1});
}

TEST(DecodeLimits, load_into_counts_the_elements_of_its_destination) {
  const Bytes file = test::blank_png(100, 100);
  auto floats = *Tensor::create_image(100, 100, F::rgb, DType::f32);
  EXPECT_FAILS(load_into(floats, file, {.limits = {.max_bytes = 100 * 100 * 12 - 1}}), "max_bytes");
  EXPECT_OK(load_into(floats, file, {.limits = {.max_bytes = 100 * 100 * 12}}));
}

TEST(DecodeLimits, limits_of_the_process_count_where_none_are_named) {
  const Bytes file = test::blank_png(100, 100);
  ASSERT_EQ(DecodeLimits::defaults(), DecodeLimits{});
  const DecodeLimits small{.max_pixels = 9'999, .max_scan_passes = 7};
  set_default_decode_limits(small);
  EXPECT_EQ(DecodeLimits::defaults(), small);
  EXPECT_FAILS(test::load(file), Errc::invalid_argument, "limits.max_pixels");
  EXPECT_FALSE(peek(file));
  EXPECT_TRUE(peek(file, DecodeLimits{}));
  set_default_decode_limits({});
  EXPECT_OK(test::load(file));
}

// A PNG whose chunk of a keyword, compression method 0 and a stream inflates to `bytes`.
Bytes with_inflating_chunk(const char* type, std::size_t bytes) {
  const std::string stream = test::zlib_stream(std::string(bytes, '\0'), 1);
  test::RawPng spec{.width = 1, .height = 1, .color_type = 0};
  spec.before_data = test::png_chunk(type, std::string("name\0\0", 6) + stream);
  spec.data = test::zlib_stream(std::string(2, '\0'));
  return test::png_file(spec);
}

TEST(DecodeLimits, text_and_profiles_of_pngs_inflate_to_64_mib_at_most) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  for (const char* type : {"zTXt", "iCCP"}) {
    const Bytes file = with_inflating_chunk(type, 4 * mib);
    EXPECT_TRUE(test::load(file)) << type;
  }
  // Both have one limit.
  const Bytes file = with_inflating_chunk("zTXt", 65 * mib);
  EXPECT_FALSE(test::load(file));
}

TEST(DecodeLimits, exif_that_leads_in_circles_is_read_once) {
  // A reader that follows directories has 2500^10 ways here.
  const std::string loop = test::looping_exif();
  ASSERT_LT(loop.size(), 65'534U);
  EXPECT_EQ(codec::exif_orientation(std::as_bytes(std::span(loop))), 0);
  EXPECT_EQ(peek(test::make_jpeg({.exif = loop}))->exif_orientation, 0);
}

}  // namespace
}  // namespace halyard
