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

using test::Bytes;

std::string refusal_of(const Bytes& file, const LoadOptions& options = {}) {
  const auto image = load_image(std::span<const std::byte>(file), options);
  if (image) return {};
  EXPECT_FAILS(image, Errc::invalid_argument);
  return image.error().message();
}

bool names(const std::string& message, const char* text) {
  return message.find(text) != std::string::npos;
}

TEST(DecodeLimits, many_scans_over_a_large_image_are_refused_before_they_are_decoded) {
  const Bytes file = test::scan_bomb(16384, 882);
  ASSERT_LT(file.size(), 1'000'000U);
  const auto header = *codec::parse_jpeg_header(file, {});
  const auto status = codec::check_jpeg_scans(file, header, {});
  EXPECT_FAILS(status, Errc::invalid_argument);
  // The message has the scans, their visits and the factor that is to be raised.
  const std::string message = refusal_of(file);
  EXPECT_TRUE(names(message, "limits.max_scan_passes")) << message;
  EXPECT_TRUE(names(message, "883 scans visit 3703570432 blocks in an image of 4194304"))
      << message;
  EXPECT_TRUE(names(message, "24 times")) << message;
  EXPECT_FALSE(refusal_of(test::scan_bomb(16384, 24)).empty());
  EXPECT_FALSE(refusal_of(test::scan_bomb(8192, 200)).empty());
}

TEST(DecodeLimits, scans_of_small_images_pass_and_a_lower_factor_counts_for_large_ones) {
  EXPECT_EQ(refusal_of(test::scan_bomb(512, 882)), "");
  // A script with a scan for each coefficient, on 17 Mpx: 2^18 blocks, 64 visits.
  EXPECT_EQ(refusal_of(test::scan_bomb(4096, 63)), "");
  const Bytes wide = test::scan_bomb(8192, 63);  // 2^20 blocks
  EXPECT_TRUE(names(refusal_of(wide), "max_scan_passes"));
  LoadOptions options;
  options.limits.max_scan_passes = 64;
  EXPECT_EQ(codec::check_jpeg_scans(wide, *codec::parse_jpeg_header(wide, {}), options.limits)
                .has_value(),
            true);
  EXPECT_EQ(refusal_of(test::make_jpeg({.progressive = true})), "");
  EXPECT_EQ(refusal_of(test::make_jpeg({.progressive = true, .restart_interval = 2})), "");
  EXPECT_EQ(refusal_of(test::make_jpeg({.interleaved = false})), "");
}

TEST(DecodeLimits, number_of_scans_has_a_limit_of_its_own) {
  const Bytes file = test::scan_bomb(64, 15);
  LoadOptions options;
  options.limits.max_scans = 16;
  EXPECT_EQ(refusal_of(file, options), "");
  options.limits.max_scans = 15;
  EXPECT_TRUE(names(refusal_of(file, options), "limits.max_scans: 16 > 15"))
      << refusal_of(file, options);
}

TEST(DecodeLimits, scans_are_counted_while_they_are_decoded_too) {
  const Bytes file = test::scan_bomb(4096, 160);
  const auto header = *codec::parse_jpeg_header(file, {});
  const auto image = *Tensor::create_image(4096, 4096, PixelFormat::grey);
  const auto map = image.map(Access::write);
  for (const DecodeLimits& limits : {DecodeLimits{.max_scans = 20}, DecodeLimits{}}) {
    const auto status = codec::decode_jpeg(file, header, PixelFormat::grey, *map, limits);
    ASSERT_FALSE(status);
    EXPECT_TRUE(names(status.error().message(), "scans")) << status.error().message();
  }
}

TEST(DecodeLimits, small_files_of_huge_blank_images_are_refused) {
  const Bytes file = test::blank_png(16000, 16000, true);
  ASSERT_LT(file.size(), 40'000U);
  const std::string message = refusal_of(file);
  EXPECT_TRUE(names(message, "limits.max_expansion")) << message;
  EXPECT_TRUE(names(message, "1024000000 bytes from a file of")) << message;
  EXPECT_TRUE(names(message, "limits.expansion_floor")) << message;
  // 537 MB of rgba from half a megabyte, nearly 2000 to 1.
  LoadOptions rgba;
  rgba.format = PixelFormat::rgba;
  EXPECT_TRUE(names(refusal_of(test::scan_bomb(16384, 3), rgba), "max_expansion"));
}

TEST(DecodeLimits, blank_pages_pass) {
  EXPECT_EQ(refusal_of(test::blank_png(4960, 7016)), "") << "A4, 600 dpi, 104 MB of rgb";
  EXPECT_EQ(refusal_of(test::blank_png(7680, 4320, true)), "") << "8K, 133 MB of rgba";
  EXPECT_EQ(refusal_of(test::scan_bomb(8192, 9)), "") << "a blank progressive JPEG of 67 Mpx";
}

TEST(DecodeLimits, expansion_counts_above_its_floor_only) {
  const Bytes file = test::blank_png(1000, 1000);
  LoadOptions options;
  options.limits.max_expansion = 10;
  EXPECT_EQ(refusal_of(file, options), "");
  options.limits.expansion_floor = 2'999'999;
  EXPECT_TRUE(names(refusal_of(file, options), "max_expansion"));
  options.limits.expansion_floor = 3'000'000;
  EXPECT_EQ(refusal_of(file, options), "");
}

TEST(DecodeLimits, bytes_count_pixels_and_what_decoding_holds_beside_them) {
  LoadOptions options;
  options.limits.max_bytes = 64 * 64 - 1;
  const Bytes plain = test::make_jpeg(
      {.width = 64, .height = 64, .stored = test::Stored::grey, .sampling = {{{1, 1}}}});
  EXPECT_TRUE(names(refusal_of(plain, options), "limits.max_bytes"));
  options.limits.max_bytes = 64 * 64;
  EXPECT_EQ(refusal_of(plain, options), "");
  const Bytes progressive = test::scan_bomb(64, 1);
  EXPECT_TRUE(names(refusal_of(progressive, options), "limits.max_bytes"));
  options.limits.max_bytes = 64 * 64 * 3;  // a coefficient takes two bytes
  EXPECT_EQ(refusal_of(progressive, options), "");
  options.limits.max_bytes = 64 * 64 * 7 - 1;
  EXPECT_TRUE(names(refusal_of(test::blank_png(64, 64, false, true), options), "max_bytes"));
}

TEST(DecodeLimits, load_into_counts_the_elements_of_its_destination) {
  const Bytes file = test::blank_png(100, 100);
  auto floats = *Tensor::create_image(100, 100, PixelFormat::rgb, DType::f32);
  LoadOptions options;
  options.limits.max_bytes = 100 * 100 * 12 - 1;
  const auto refused = load_into(floats, file, options);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(names(refused.error().message(), "max_bytes"));
  options.limits.max_bytes += 1;
  EXPECT_TRUE(load_into(floats, file, options));
}

TEST(DecodeLimits, limits_of_the_process_count_where_none_are_named) {
  const Bytes file = test::blank_png(100, 100);
  ASSERT_EQ(DecodeLimits::defaults(), DecodeLimits{});
  DecodeLimits small;
  small.max_pixels = 9'999;
  small.max_scan_passes = 7;
  set_default_decode_limits(small);
  EXPECT_EQ(DecodeLimits::defaults(), small);
  EXPECT_TRUE(names(refusal_of(file), "limits.max_pixels"));
  EXPECT_FALSE(peek(file));
  EXPECT_TRUE(peek(file, DecodeLimits{}));
  set_default_decode_limits({});
  EXPECT_EQ(refusal_of(file), "");
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
    EXPECT_TRUE(load_image(std::span<const std::byte>(file))) << type;
  }
  // Both have one limit.
  const Bytes file = with_inflating_chunk("zTXt", 65 * mib);
  EXPECT_FALSE(load_image(std::span<const std::byte>(file)));
}

TEST(DecodeLimits, exif_that_leads_in_circles_is_read_once) {
  // A reader that follows directories has 2500^10 ways here.
  const std::string loop = test::looping_exif();
  ASSERT_LT(loop.size(), 65'534U);
  EXPECT_EQ(codec::exif_orientation(std::as_bytes(std::span(loop))), 0);
  const Bytes file = test::make_jpeg({.exif = loop});
  EXPECT_EQ(peek(file)->exif_orientation, 0);
}

}  // namespace
}  // namespace halyard
