// SPDX-License-Identifier: Apache-2.0
// Statistics of images.
#include <gtest/gtest.h>

#include <cmath>

#include "halyard/image.h"
#include "image/channels.h"
#include "images.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

TEST(Measure, counts_what_was_put_in) {
  const Tensor image = zero_image(4, 2, F::bgr);
  for (int i = 0; i < 8; ++i) {
    set_code(image, 0, i % 4, i / 4, 10);
    set_code(image, 1, i % 4, i / 4, i < 4 ? 0 : 255);
    set_code(image, 2, i % 4, i / 4, i);
  }
  const ImageStatistics s = measure(image).value();
  ASSERT_EQ(s.channels, 3U);
  EXPECT_EQ(s.channel[0].mean, 10);
  EXPECT_EQ(s.channel[0].standard_deviation, 0);
  EXPECT_EQ(s.channel[0].histogram[10], 8U);
  EXPECT_EQ(s.channel[1].mean, 127.5);
  EXPECT_EQ(s.channel[1].standard_deviation, 127.5);
  EXPECT_EQ(s.channel[1].histogram[255], 4U);
  EXPECT_EQ(s.channel[2].mean, 3.5);
  EXPECT_DOUBLE_EQ(s.channel[2].standard_deviation, std::sqrt(5.25));
}

TEST(Measure, every_format_counts_its_samples) {
  Random random(23);
  for (const FormatInfo& format : all_formats()) {
    const Tensor image = random_image(random, 33, 17, format.format, DType::u8, 8);
    const ImageStatistics s = measure(image).value();
    const bool mosaic = format.model == ColorModel::bayer;
    ASSERT_EQ(s.channels, mosaic ? 1 : image::channel_map(format.format)->count) << format.name;
    for (std::size_t c = 0; c < s.channels; ++c) {
      const bool chroma = format.model == ColorModel::yuv && c > 0;
      const int columns =
          chroma ? (33 + (1 << format.chroma_shift_x) - 1) >> format.chroma_shift_x : 33;
      const int rows =
          chroma ? (17 + (1 << format.chroma_shift_y) - 1) >> format.chroma_shift_y : 17;
      std::array<std::uint64_t, 256> wanted{};
      double sum = 0;
      for (const auto [y, x] : grid(mosaic ? 0 : rows, columns)) {
        const int code = code_at(image, c, chroma ? x << format.chroma_shift_x : x,
                                 chroma ? y << format.chroma_shift_y : y);
        ++wanted[static_cast<std::size_t>(code)];
        sum += code;
      }
      std::uint64_t count = 0;
      for (const std::uint64_t n : s.channel[c].histogram)
        count += n;
      EXPECT_EQ(count, static_cast<std::uint64_t>(columns * rows)) << format.name << c;
      if (mosaic) continue;
      EXPECT_EQ(s.channel[c].histogram, wanted) << format.name << c;
      EXPECT_NEAR(s.channel[c].mean, sum / (columns * rows), 1e-9) << format.name << c;
    }
  }
}

TEST(Measure, steps_over_rows) {
  const Tensor image = zero_image(3, 10, F::grey);
  for (int i = 0; i < 30; ++i)
    set_code(image, 0, i % 3, i / 3, i / 3);
  const ImageStatistics s = measure(image, 4).value();
  EXPECT_EQ(s.channel[0].mean, 4);  // rows 0, 4, 8
  EXPECT_EQ(s.channel[0].histogram[8], 3U);
  EXPECT_EQ(measure(image, SIZE_MAX)->channel[0].mean, 0);
}

TEST(Measure, refuses_what_has_no_codes_and_names_it) {
  const Tensor image = zero_image(4, 4, F::grey);
  EXPECT_FAILS(measure(image, 0), Errc::invalid_argument);
  EXPECT_EQ(measure(image, 0).error().message().find("row_step: "), 0U);
  EXPECT_FAILS(measure(Tensor()), Errc::invalid_argument);
  EXPECT_EQ(measure(Tensor::create(DType::u8, {4, 4, 1}).value()).error().message().find("image: "),
            0U);
  EXPECT_FAILS(measure(zero_image(4, 4, F::grey, DType::u16)), Errc::unsupported);
}

}  // namespace
}  // namespace halyard::test
