// SPDX-License-Identifier: Apache-2.0
// The YUV-to-RGB path: images to RGB and grey at their own size, compared with the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "cases.h"
#include "each_target.h"
#include "image/cpu/cpu_program.h"
#include "image/cpu/kernels/yuv_rgb.h"
#include "image/differential.h"
#include "image/images.h"
#include "support/product.h"
#include "support/result.h"

namespace {

using namespace halyard;
using namespace halyard::test;
using F = PixelFormat;

constexpr PixelFormat sources[] = {F::nv12, F::nv21, F::nv16, F::i420,
                                   F::yuyv, F::yvyu, F::uyvy, F::vyuy};
constexpr PixelFormat targets[] = {F::rgb,        F::bgr,         F::rgba, F::bgra,
                                   F::planar_rgb, F::planar_rgba, F::grey};

constexpr Region corner{0, 0, 8, 8};

bool is_direct(const Convert& request) {
  const auto plan = image::make_plan(request);
  EXPECT_OK(plan);
  return plan && image::compile_yuv_rgb(*plan) != nullptr;
}

TEST(YuvRgb, every_pair_of_formats_equals_the_reference) {
  Random random(51);
  Judge judge;
  for (const auto& [from, to, width] :
       product(sources, targets, {1, 2, 15, 16, 33, 64, 65, 97, 131, 198})) {
    const Convert request = same_size(random, from, to, width, pick(random, 1, 6));
    ASSERT_TRUE(is_direct(request)) << describe(request);
    judge.compare(request);
  }
}

TEST(YuvRgb, every_width_equals_the_reference) {
  Random random(52);
  Judge judge;
  for (int width = 1; width <= 160; ++width) {
    for (const PixelFormat to : {F::rgb, F::rgba, F::planar_rgb}) {
      judge.compare(same_size(random, F::nv12, to, width, 3));
      judge.compare(same_size(random, F::yuyv, to, width, 1));
    }
  }
}

TEST(YuvRgb, crops_that_begin_on_any_row_and_pads_equal_the_reference) {
  Random random(53);
  Judge judge;
  for (const auto& [from, to, y] : product(sources, targets, upto(3))) {
    Convert request = same_size(random, from, to, 40, 12);
    place_crop(random, request,
               {2 * pick(random, 0, 5), y, pick(random, 1, 20), pick(random, 1, 9)});
    ASSERT_TRUE(is_direct(request)) << describe(request);
    judge.compare(request);
  }
}

TEST(YuvRgb, matrices_and_ranges_equal_the_reference) {
  Random random(54);
  Judge judge;
  for (const auto& [encoding, range, from] :
       product({ColorEncoding::bt601, ColorEncoding::bt709, ColorEncoding::bt2020},
               {ColorRange::full, ColorRange::limited}, {F::nv21, F::uyvy})) {
    Convert request = same_size(random, from, F::bgra, 254, 40);
    Colorimetry colorimetry;
    colorimetry.encoding = encoding;
    colorimetry.range = range;
    request.src.set_colorimetry(colorimetry);
    judge.compare(request);
  }
}

TEST(YuvRgb, signed_planes_and_swapped_colours_equal_the_reference) {
  Random random(55);
  Judge judge;
  for (const PixelFormat from : sources) {
    for (const PixelFormat to : targets) {
      if (to == F::grey) continue;
      Convert request = same_size(random, from, to, 75, 5);
      request.bgr = true;
      judge.compare(request);
    }
    Convert request = same_size(random, from, F::planar_rgba, 75, 5);
    request.dst = random_image(random, 75, 5, F::planar_rgba, DType::i8, 5, 3);
    ASSERT_TRUE(is_direct(request));
    judge.compare(request);
  }
}

TEST(YuvRgb, what_is_resampled_rotated_or_exact_goes_another_way) {
  Random random(56);
  const Convert plain = same_size(random, F::nv12, F::rgb, 16, 8);
  ASSERT_TRUE(is_direct(plain));
  EXPECT_FALSE(is_direct(with(plain, [](Convert& c) {
    c.crop = Region{1, 0, 15, 8};  // an odd column
    c.place = Region{0, 0, 15, 8};
  })));
  EXPECT_FALSE(is_direct(with(plain, [](Convert& c) { c.flip = Flip::horizontal; })));
  EXPECT_FALSE(is_direct(with(plain, [](Convert& c) { c.chroma = Chroma::bilinear; })));
  EXPECT_FALSE(is_direct(with(plain, [](Convert& c) { c.place = corner; })));
  ASSERT_VALUE(const auto exact, image::make_plan(plain, ColorimetryMode::exact));
  EXPECT_EQ(image::compile_yuv_rgb(exact), nullptr);
}

TEST(YuvRgb, every_target_gives_the_same_bytes) {
  Random random(57);
  for (const auto& [from, to] : product(sources, targets))
    expect_equal_bits(same_size(random, from, to, pick(random, 1, 300), 4));
}

TEST(YuvRgb, stores_past_the_cache_write_the_same_bytes) {
  Random random(58);
  constexpr std::size_t width = 333;
  std::array<std::array<std::uint8_t, width + 1>, 2> in;
  for (auto& row : in) {
    for (std::uint8_t& byte : row)
      byte = static_cast<std::uint8_t>(random());
  }
  image::YuvRgbJob job{.store = image::YuvRgbJob::Store::packed4,
                       .width = width,
                       .matrix = {16, 112, 19077, 17306, 14686, 1749, 4366}};
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
