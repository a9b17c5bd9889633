// SPDX-License-Identifier: Apache-2.0
// The YUV-to-RGB path: images to RGB and grey at their own size, compared with the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "each_target.h"
#include "image/cpu/cpu_program.h"
#include "image/cpu/kernels/yuv_rgb.h"
#include "image/differential.h"
#include "image/images.h"

namespace {

using namespace halyard;
using namespace halyard::test;

constexpr PixelFormat sources[] = {PixelFormat::nv12, PixelFormat::nv21, PixelFormat::nv16,
                                   PixelFormat::i420, PixelFormat::yuyv, PixelFormat::yvyu,
                                   PixelFormat::uyvy, PixelFormat::vyuy};
constexpr PixelFormat targets[] = {
    PixelFormat::rgb,        PixelFormat::bgr,         PixelFormat::rgba, PixelFormat::bgra,
    PixelFormat::planar_rgb, PixelFormat::planar_rgba, PixelFormat::grey};

Convert same_size(Random& random, PixelFormat from, PixelFormat to, int width, int height) {
  Convert request;
  request.src = random_image(random, width, height, from, DType::u8, 6, 2);
  request.dst = random_image(random, width, height, to, DType::u8, 5, 3);
  return request;
}

bool is_direct(const Convert& request) {
  const auto plan = image::make_plan(request);
  EXPECT_TRUE(plan) << plan.error().message();
  return plan && image::compile_yuv_rgb(*plan) != nullptr;
}

TEST(YuvRgb, every_pair_of_formats_equals_the_reference) {
  Random random(51);
  Judge judge;
  for (const PixelFormat from : sources) {
    for (const PixelFormat to : targets) {
      for (const int width : {1, 2, 15, 16, 33, 64, 65, 97, 131, 198}) {
        const Convert request = same_size(random, from, to, width, pick(random, 1, 6));
        ASSERT_TRUE(is_direct(request)) << describe(request);
        judge.compare(request);
      }
    }
  }
}

TEST(YuvRgb, every_width_equals_the_reference) {
  Random random(52);
  Judge judge;
  for (int width = 1; width <= 160; ++width) {
    for (const PixelFormat to : {PixelFormat::rgb, PixelFormat::rgba, PixelFormat::planar_rgb}) {
      judge.compare(same_size(random, PixelFormat::nv12, to, width, 3));
      judge.compare(same_size(random, PixelFormat::yuyv, to, width, 1));
    }
  }
}

TEST(YuvRgb, crops_that_begin_on_any_row_and_pads_equal_the_reference) {
  Random random(53);
  Judge judge;
  for (const PixelFormat from : sources) {
    for (const PixelFormat to : targets) {
      for (int y = 0; y < 3; ++y) {
        Convert request = same_size(random, from, to, 40, 12);
        request.crop = Region{2 * pick(random, 0, 5), y, pick(random, 1, 20), pick(random, 1, 9)};
        request.place = Region{pick(random, 0, 9), pick(random, 0, 3),
                               static_cast<std::int32_t>(request.crop->width),
                               static_cast<std::int32_t>(request.crop->height)};
        ASSERT_TRUE(is_direct(request)) << describe(request);
        judge.compare(request);
      }
    }
  }
}

TEST(YuvRgb, matrices_and_ranges_equal_the_reference) {
  Random random(54);
  Judge judge;
  for (const ColorEncoding encoding :
       {ColorEncoding::bt601, ColorEncoding::bt709, ColorEncoding::bt2020}) {
    for (const ColorRange range : {ColorRange::full, ColorRange::limited}) {
      for (const PixelFormat from : {PixelFormat::nv21, PixelFormat::uyvy}) {
        Convert request = same_size(random, from, PixelFormat::bgra, 254, 40);
        Colorimetry colorimetry;
        colorimetry.encoding = encoding;
        colorimetry.range = range;
        request.src.set_colorimetry(colorimetry);
        judge.compare(request);
      }
    }
  }
}

TEST(YuvRgb, signed_planes_and_swapped_colours_equal_the_reference) {
  Random random(55);
  Judge judge;
  for (const PixelFormat from : sources) {
    for (const PixelFormat to : targets) {
      if (to == PixelFormat::grey) continue;
      Convert request = same_size(random, from, to, 75, 5);
      request.bgr = true;
      judge.compare(request);
    }
    Convert request = same_size(random, from, PixelFormat::planar_rgba, 75, 5);
    request.dst = random_image(random, 75, 5, PixelFormat::planar_rgba, DType::i8, 5, 3);
    ASSERT_TRUE(is_direct(request));
    judge.compare(request);
  }
}

TEST(YuvRgb, what_is_resampled_turned_or_exact_goes_another_way) {
  Random random(56);
  const Convert plain = same_size(random, PixelFormat::nv12, PixelFormat::rgb, 16, 8);
  ASSERT_TRUE(is_direct(plain));
  Convert odd_column = plain;
  odd_column.crop = Region{1, 0, 15, 8};
  odd_column.place = Region{0, 0, 15, 8};
  EXPECT_FALSE(is_direct(odd_column));
  Convert flipped = plain;
  flipped.flip = Flip::horizontal;
  EXPECT_FALSE(is_direct(flipped));
  Convert smooth = plain;
  smooth.chroma = Chroma::bilinear;
  EXPECT_FALSE(is_direct(smooth));
  Convert smaller = plain;
  smaller.place = Region{0, 0, 8, 8};
  EXPECT_FALSE(is_direct(smaller));
  const auto exact = image::make_plan(plain, ColorimetryMode::exact);
  ASSERT_TRUE(exact);
  EXPECT_EQ(image::compile_yuv_rgb(*exact), nullptr);
}

TEST(YuvRgb, every_target_gives_the_same_bytes) {
  Random random(57);
  auto processor = Processor::create().value();
  for (const PixelFormat from : sources) {
    for (const PixelFormat to : targets) {
      const Convert request = same_size(random, from, to, pick(random, 1, 300), 4);
      ASSERT_TRUE(processor.convert(request));
      const std::vector<std::byte> first = bytes_of(request.dst);
      for_each_target([&] {
        ASSERT_TRUE(processor.convert(request));
        EXPECT_EQ(bytes_of(request.dst), first) << describe(request);
      });
    }
  }
}

TEST(YuvRgb, stores_past_the_cache_write_the_same_bytes) {
  Random random(58);
  constexpr std::size_t width = 333;
  std::array<std::array<std::uint8_t, width + 1>, 2> in;
  for (auto& row : in) {
    for (std::uint8_t& byte : row)
      byte = static_cast<std::uint8_t>(random());
  }
  image::YuvRgbJob job;
  job.store = image::YuvRgbJob::Store::packed4;
  job.width = width;
  job.matrix = {16, 112, 19077, 17306, 14686, 1749, 4366};
  job.luma[0] = in[0].data();
  job.pairs = in[1].data();
  for (const std::size_t offset : {0, 4}) {  // rows with and without the alignment for streams
    alignas(64) std::array<std::uint8_t, 4 * width + 64> plain{};
    alignas(64) std::array<std::uint8_t, 4 * width + 64> streamed{};
    job.streams = false;
    job.out[0][0] = plain.data() + offset;
    image::yuv_rgb_rows(job);
    job.streams = true;
    job.out[0][0] = streamed.data() + offset;
    image::yuv_rgb_rows(job);
    image::finish_yuv_rgb_streams();
    EXPECT_EQ(plain, streamed);
    EXPECT_GT(std::count(plain.begin(), plain.end(), 255), width - 1);
  }
}

}  // namespace
