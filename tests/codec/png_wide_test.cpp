// SPDX-License-Identifier: Apache-2.0
// One rule takes 16 bits to 8, whoever does it: the decoder, on either of its ways, or convert().
#include <cstring>
#include <numeric>

#include "codec/png/png_decode.h"
#include "codec/png/png_filter.h"
#include "codec/png/png_narrow.h"
#include "codec/support.h"
#include "halyard/image.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::Bytes;
using test::elements;
using test::plane_bytes;

constexpr int maximum = 65535;

// round(v * 255 / 65535): there are no ties.
constexpr int nearest(int v) {
  return (v * 255 + maximum / 2) / maximum;
}

// A square of all samples that there are, `channels` to a pixel, each channel from another start.
Bytes all_samples(int color_type, std::size_t channels, bool interlaced) {
  std::vector<std::uint16_t> samples(channels * 65536);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<std::uint16_t>(i / channels + i % channels * 12345);
  return test::make_png({.width = 256,
                         .height = 256,
                         .depth = 16,
                         .color_type = color_type,
                         .interlaced = interlaced},
                        std::as_bytes(std::span(samples)));
}

Tensor loaded_as(const Bytes& file, PixelFormat format, DType dtype) {
  return test::load_as(file, format, dtype).value();
}

struct WideKind {
  int color_type;
  std::size_t channels;
};
constexpr WideKind wide_kinds[] = {{0, 1}, {2, 3}, {4, 2}, {6, 4}};

TEST(PngWide, bytes_are_the_nearest_codes_of_all_that_sixteen_bits_hold) {
  for (const auto& [kind, interlaced] :
       test::product(wide_kinds, {false, true})) {  // libspng's way, where it is
    const Bytes file = all_samples(kind.color_type, kind.channels, interlaced);
    for (const PixelFormat format : {F::rgb, F::rgba, F::bgra, F::grey}) {
      SCOPED_TRACE(std::string(to_string(format)) + " of type " + std::to_string(kind.color_type) +
                   (interlaced ? ", interlaced" : ""));
      const auto all = elements<std::uint16_t>(loaded_as(file, format, DType::u16));
      const auto bytes = elements<std::uint8_t>(loaded_as(file, format, DType::u8));
      const auto shifted = elements<std::int8_t>(loaded_as(file, format, DType::i8));
      ASSERT_EQ(bytes.size(), all.size());
      for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(bytes[i], nearest(all[i])) << all[i];
        ASSERT_EQ(shifted[i], nearest(all[i]) - 128) << all[i];
      }
    }
  }
}

TEST(PngWide, bytes_are_those_that_convert_makes_of_all_sixteen_bits) {
  auto processor = Processor::create({.threads = 1}).value();
  for (const auto& [kind, interlaced] : test::product(wide_kinds, {false, true})) {
    const Bytes file = all_samples(kind.color_type, kind.channels, interlaced);
    for (const DType dtype : {DType::u8, DType::i8}) {
      const Tensor all = loaded_as(file, F::grey, DType::u16);
      const Tensor converted = Tensor::create_image(256, 256, F::grey, dtype).value();
      ASSERT_TRUE(processor.convert({.src = all, .dst = converted}));
      EXPECT_EQ(plane_bytes(loaded_as(file, F::grey, dtype), 0), plane_bytes(converted, 0))
          << kind.color_type << interlaced << to_string(dtype);
    }
  }
}

TEST(PngWide, samples_of_any_count_are_narrowed) {
  for (std::size_t count = 0; count < 200; ++count) {
    std::vector<std::uint8_t> in(2 * count + codec::png_row_slack);
    std::vector<std::uint8_t> out(count + codec::png_row_slack);
    for (std::size_t i = 0; i < 2 * count; ++i)
      in[i] = static_cast<std::uint8_t>(i * 151 + count);
    codec::narrow_samples(in.data(), count, out.data());
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(out[i], nearest(in[2 * i] * 256 + in[2 * i + 1])) << i << " of " << count;
  }
}

}  // namespace
}  // namespace halyard
