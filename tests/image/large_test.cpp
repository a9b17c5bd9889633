// SPDX-License-Identifier: Apache-2.0
// Images of many strips: several threads, ring buffers that wrap around, streams past the cache.
#include <gtest/gtest.h>

#include <string>

#include "image/differential.h"

namespace halyard::test {
namespace {

struct Work {
  PixelFormat from;
  Size source;
  PixelFormat to;
  DType dtype;
  Size target;
  void (*set)(Convert&);
};

void boxed(Convert& c) {
  c.fit = Fit::letterbox;
}
void smooth(Convert& c) {
  c.fit = Fit::letterbox;
  c.antialias = true;
}
void cubic(Convert& c) {
  c.filter = Filter::bicubic;
}
void lanczos(Convert& c) {
  c.filter = Filter::lanczos3;
  c.antialias = true;
}
void rotated(Convert& c) {
  c.rotation = Rotation::cw90;
}
void covered(Convert& c) {
  c.fit = Fit::cover;
  c.rotation = Rotation::cw270;
  c.flip = Flip::horizontal;
}
void plain(Convert&) {}

constexpr Work works[] = {
    {PixelFormat::nv12, {640, 360}, PixelFormat::rgb, DType::u8, {213, 213}, &boxed},
    {PixelFormat::nv12, {640, 360}, PixelFormat::planar_rgb, DType::f32, {213, 213}, &smooth},
    {PixelFormat::yuyv, {639, 203}, PixelFormat::rgba, DType::u8, {317, 229}, &boxed},
    {PixelFormat::rgb, {517, 300}, PixelFormat::rgb, DType::u8, {256, 256}, &smooth},
    {PixelFormat::rgb, {170, 111}, PixelFormat::rgb, DType::u8, {511, 333}, &plain},
    {PixelFormat::rgba, {301, 199}, PixelFormat::rgba, DType::u8, {199, 301}, &rotated},
    {PixelFormat::i420, {401, 277}, PixelFormat::bgr, DType::i8, {300, 200}, &covered},
    {PixelFormat::grey, {1000, 700}, PixelFormat::grey, DType::u8, {31, 17}, &smooth},
    {PixelFormat::grey, {1000, 700}, PixelFormat::grey, DType::f16, {61, 43}, &lanczos},
    {PixelFormat::planar_rgb, {200, 150}, PixelFormat::nv12, DType::u8, {301, 221}, &cubic},
    {PixelFormat::bgra, {333, 222}, PixelFormat::yuyv, DType::u8, {333, 222}, &plain},
    {PixelFormat::nv16, {2000, 37}, PixelFormat::i420, DType::u8, {777, 55}, &lanczos},
    {PixelFormat::nv24, {33, 900}, PixelFormat::rgb, DType::u8, {71, 450}, &plain},
};

TEST(LargeImages, are_right_in_every_strip) {
  Random random(61);
  Judge judge({.threads = 3});
  for (const Work& w : works) {
    Convert c;
    c.src = random_image(random, w.source.width, w.source.height, w.from, DType::u8, 12);
    c.dst = random_image(random, w.target.width, w.target.height, w.to, w.dtype, 8);
    w.set(c);
    judge.compare(c);
  }
  EXPECT_EQ(judge.served(), static_cast<int>(std::size(works)));
}

// The same request for a single block of the destination, at one to one.
Convert block_of(const Convert& whole, const Region& block, Random& random) {
  Convert part = whole;
  part.src = whole.src.slice(block).value();
  part.dst =
      random_image(random, block.width, block.height, *whole.dst.format(), whole.dst.dtype());
  part.dst.set_colorimetry(whole.dst.colorimetry());
  return part;
}

TEST(LargeImages, are_at_one_to_one_what_their_blocks_are) {
  // Destinations of up to 33 MB: beyond any cache of this class of machines.
  constexpr Size size{3840 / (slowness > 1 ? 4 : 1), 2160 / (slowness > 1 ? 4 : 1)};
  struct Pair {
    PixelFormat from, to;
    DType dtype;
  };
  Random random(62);
  Processor processor = Processor::create().value();
  Judge judge;
  for (const Pair& pair : {Pair{PixelFormat::nv12, PixelFormat::rgba, DType::u8},
                           Pair{PixelFormat::yuyv, PixelFormat::rgb, DType::u8},
                           Pair{PixelFormat::rgba, PixelFormat::bgra, DType::u8},
                           Pair{PixelFormat::rgb, PixelFormat::planar_rgb, DType::f16},
                           Pair{PixelFormat::rgb, PixelFormat::nv12, DType::u8}}) {
    Convert c;
    c.src = Tensor::create_image(static_cast<std::size_t>(size.width),
                                 static_cast<std::size_t>(size.height), pair.from)
                .value();
    c.src.set_colorimetry(Colorimetry::jpeg());
    fill_random(random, *c.src.buffer(), DType::u8);
    c.dst = Tensor::create_image(static_cast<std::size_t>(size.width),
                                 static_cast<std::size_t>(size.height), pair.to, pair.dtype)
                .value();
    c.dst.set_colorimetry(Colorimetry::jpeg());
    ASSERT_TRUE(processor.convert(c));
    for (int n = 0; n < 12; ++n) {
      const Region block{2 * pick(random, 0, size.width / 2 - 40),
                         n == 0 ? size.height - 48 : 2 * pick(random, 0, size.height / 2 - 24), 66,
                         48};
      const Convert part = block_of(c, block, random);
      judge.compare(part);
      EXPECT_EQ(greatest_difference(part.dst, c.dst.slice(block).value()), 0) << describe(part);
    }
  }
}

}  // namespace
}  // namespace halyard::test
