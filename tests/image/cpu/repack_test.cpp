// SPDX-License-Identifier: Apache-2.0
// The repack path: RGB and grey images whose channels are interleaved, deinterleaved or dropped,
// compared with the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "cases.h"
#include "each_target.h"
#include "image/cpu/cpu_program.h"
#include "image/cpu/kernels/repack.h"
#include "image/differential.h"
#include "image/images.h"
#include "support/product.h"
#include "support/result.h"

namespace {

using namespace halyard;
using namespace halyard::test;
using F = PixelFormat;

constexpr PixelFormat repack_sources[] = {F::rgb,        F::bgr,         F::rgba, F::bgra,
                                          F::planar_rgb, F::planar_rgba, F::grey};
constexpr PixelFormat repack_targets[] = {F::rgb,  F::bgr,        F::rgba,
                                          F::bgra, F::planar_rgb, F::planar_rgba};

constexpr Region repack_corner{0, 0, 8, 8};

bool is_repacked(const Convert& request) {
  const auto plan = image::make_plan(request);
  EXPECT_OK(plan);
  return plan && image::compile_repack(*plan) != nullptr;
}

TEST(Repack, every_pair_of_formats_equals_the_reference) {
  Random random(71);
  Judge judge;
  for (const auto& [from, to, dtype, bgr, width] :
       product(repack_sources, repack_targets, {DType::u8, DType::i8}, {false, true},
               {1, 7, 8, 9, 31, 32, 33, 65, 131})) {
    Convert request = same_size(random, from, to, width, pick(random, 1, 5), dtype);
    request.bgr = bgr;
    ASSERT_TRUE(is_repacked(request)) << describe(request);
    judge.compare(request);
  }
}

TEST(Repack, every_width_equals_the_reference) {
  Random random(72);
  Judge judge;
  for (int width = 1; width <= 140; ++width) {
    judge.compare(same_size(random, F::rgb, F::rgba, width, 2));
    judge.compare(same_size(random, F::bgra, F::rgb, width, 2));
    judge.compare(same_size(random, F::rgb, F::planar_rgb, width, 1));
    judge.compare(same_size(random, F::planar_rgba, F::bgra, width, 1));
  }
}

TEST(Repack, crops_and_pads_equal_the_reference) {
  Random random(73);
  Judge judge;
  for (const auto& [from, to] : product(repack_sources, repack_targets)) {
    Convert request = same_size(random, from, to, 40, 12);
    place_crop(random, request,
               {pick(random, 0, 9), pick(random, 0, 3), pick(random, 1, 30), pick(random, 1, 9)});
    ASSERT_TRUE(is_repacked(request)) << describe(request);
    judge.compare(request);
  }
}

TEST(Repack, what_changes_bytes_or_places_goes_another_way) {
  Random random(74);
  const Convert plain = same_size(random, F::rgb, F::rgba, 16, 8);
  ASSERT_TRUE(is_repacked(plain));
  EXPECT_FALSE(is_repacked(with(plain, [](Convert& c) { c.rotation = Rotation::cw180; })));
  EXPECT_FALSE(is_repacked(with(plain, [](Convert& c) { c.place = repack_corner; })));
  EXPECT_FALSE(is_repacked(same_size(random, F::nv12, F::rgb, 16, 8)));
  EXPECT_FALSE(is_repacked(same_size(random, F::rgb, F::grey, 16, 8)));
  EXPECT_FALSE(is_repacked({plain.src, zero_image(16, 8, F::rgba, DType::f32)}));
  Convert faded = same_size(random, F::rgba, F::planar_rgba, 16, 8);
  ASSERT_TRUE(is_repacked(faded));
  faded.alpha = AlphaStep::premultiply;
  EXPECT_FALSE(is_repacked(faded));
}

TEST(Repack, every_target_gives_the_same_bytes) {
  Random random(75);
  for (const auto& [from, to] : product(repack_sources, repack_targets))
    expect_equal_bits(same_size(random, from, to, pick(random, 1, 300), 4));
}

// Rows of exactly their size, each on the heap: AddressSanitizer finds accesses beside them.
TEST(Repack, rows_end_where_their_memory_ends) {
  for (std::size_t pixels = 1; pixels <= 80; ++pixels) {
    const auto in = std::make_unique<std::uint8_t[]>(3 * pixels);
    const auto out = std::make_unique<std::uint8_t[]>(4 * pixels);
    for (std::size_t i = 0; i < 3 * pixels; ++i)
      in[i] = static_cast<std::uint8_t>(i);
    image::RepackJob job{.from = image::RepackJob::Group::packed3,
                         .to = image::RepackJob::Group::packed4,
                         .width = pixels};
    job.in[0] = in.get();
    job.out[0] = out.get();
    for_each_target([&] {
      std::fill_n(out.get(), 4 * pixels, std::uint8_t{1});
      image::repack_rows(job);
      for (std::size_t x = 0; x < pixels; ++x) {
        ASSERT_EQ(std::memcmp(out.get() + 4 * x, in.get() + 3 * x, 3), 0) << pixels << " " << x;
        ASSERT_EQ(out[4 * x + 3], 255);
      }
    });
  }
}

}  // namespace
