// SPDX-License-Identifier: Apache-2.0
// The repack path: RGB and grey images whose channels are interleaved, deinterleaved or dropped,
// compared with the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "each_target.h"
#include "image/cpu/cpu_program.h"
#include "image/cpu/kernels/repack.h"
#include "image/differential.h"
#include "image/images.h"

namespace {

using namespace halyard;
using namespace halyard::test;

constexpr PixelFormat sources[] = {
    PixelFormat::rgb,        PixelFormat::bgr,         PixelFormat::rgba, PixelFormat::bgra,
    PixelFormat::planar_rgb, PixelFormat::planar_rgba, PixelFormat::grey};
constexpr PixelFormat targets[] = {PixelFormat::rgb,        PixelFormat::bgr,
                                   PixelFormat::rgba,       PixelFormat::bgra,
                                   PixelFormat::planar_rgb, PixelFormat::planar_rgba};

Convert same_size(Random& random, PixelFormat from, PixelFormat to, int width, int height,
                  DType dtype = DType::u8) {
  Convert request;
  request.src = random_image(random, width, height, from, DType::u8, 6, 2);
  request.dst = random_image(random, width, height, to, dtype, 5, 3);
  return request;
}

bool is_repacked(const Convert& request) {
  const auto plan = image::make_plan(request);
  EXPECT_TRUE(plan) << plan.error().message();
  return plan && image::compile_repack(*plan) != nullptr;
}

TEST(Repack, every_pair_of_formats_equals_the_reference) {
  Random random(71);
  Judge judge;
  for (const PixelFormat from : sources) {
    for (const PixelFormat to : targets) {
      for (const DType dtype : {DType::u8, DType::i8}) {
        for (const bool bgr : {false, true}) {
          for (const int width : {1, 7, 8, 9, 31, 32, 33, 65, 131}) {
            Convert request = same_size(random, from, to, width, pick(random, 1, 5), dtype);
            request.bgr = bgr;
            ASSERT_TRUE(is_repacked(request)) << describe(request);
            judge.compare(request);
          }
        }
      }
    }
  }
}

TEST(Repack, every_width_equals_the_reference) {
  Random random(72);
  Judge judge;
  for (int width = 1; width <= 140; ++width) {
    judge.compare(same_size(random, PixelFormat::rgb, PixelFormat::rgba, width, 2));
    judge.compare(same_size(random, PixelFormat::bgra, PixelFormat::rgb, width, 2));
    judge.compare(same_size(random, PixelFormat::rgb, PixelFormat::planar_rgb, width, 1));
    judge.compare(same_size(random, PixelFormat::planar_rgba, PixelFormat::bgra, width, 1));
  }
}

TEST(Repack, crops_and_pads_equal_the_reference) {
  Random random(73);
  Judge judge;
  for (const PixelFormat from : sources) {
    for (const PixelFormat to : targets) {
      Convert request = same_size(random, from, to, 40, 12);
      request.crop =
          Region{pick(random, 0, 9), pick(random, 0, 3), pick(random, 1, 30), pick(random, 1, 9)};
      request.place = Region{pick(random, 0, 9), pick(random, 0, 3),
                             static_cast<std::int32_t>(request.crop->width),
                             static_cast<std::int32_t>(request.crop->height)};
      ASSERT_TRUE(is_repacked(request)) << describe(request);
      judge.compare(request);
    }
  }
}

TEST(Repack, what_changes_bytes_or_places_goes_another_way) {
  Random random(74);
  const Convert plain = same_size(random, PixelFormat::rgb, PixelFormat::rgba, 16, 8);
  ASSERT_TRUE(is_repacked(plain));
  Convert rotated = plain;
  rotated.rotation = Rotation::cw180;
  EXPECT_FALSE(is_repacked(rotated));
  Convert smaller = plain;
  smaller.place = Region{0, 0, 8, 8};
  EXPECT_FALSE(is_repacked(smaller));
  EXPECT_FALSE(is_repacked(same_size(random, PixelFormat::nv12, PixelFormat::rgb, 16, 8)));
  EXPECT_FALSE(is_repacked(same_size(random, PixelFormat::rgb, PixelFormat::grey, 16, 8)));
  Convert floats = plain;
  floats.dst = Tensor::create_image(16, 8, PixelFormat::rgba, DType::f32).value();
  EXPECT_FALSE(is_repacked(floats));
  Convert faded = same_size(random, PixelFormat::rgba, PixelFormat::planar_rgba, 16, 8);
  ASSERT_TRUE(is_repacked(faded));
  faded.alpha = AlphaStep::premultiply;
  EXPECT_FALSE(is_repacked(faded));
}

TEST(Repack, every_target_gives_the_same_bytes) {
  Random random(75);
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

// Rows of exactly their size, each on the heap: AddressSanitizer finds accesses beside them.
TEST(Repack, rows_end_where_their_memory_ends) {
  for (std::size_t pixels = 1; pixels <= 80; ++pixels) {
    const auto in = std::make_unique<std::uint8_t[]>(3 * pixels);
    const auto out = std::make_unique<std::uint8_t[]>(4 * pixels);
    for (std::size_t i = 0; i < 3 * pixels; ++i)
      in[i] = static_cast<std::uint8_t>(i);
    image::RepackJob job;
    job.from = image::RepackJob::Group::packed3;
    job.to = image::RepackJob::Group::packed4;
    job.width = pixels;
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
