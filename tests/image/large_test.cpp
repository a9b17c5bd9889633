// SPDX-License-Identifier: Apache-2.0
// Images of many strips: several threads, ring buffers that wrap around, streams past the cache.
#include <gtest/gtest.h>

#include <string>

#include "image/differential.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

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
    {F::nv12, {640, 360}, F::rgb, DType::u8, {213, 213}, &boxed},
    {F::nv12, {640, 360}, F::planar_rgb, DType::f32, {213, 213}, &smooth},
    {F::yuyv, {639, 203}, F::rgba, DType::u8, {317, 229}, &boxed},
    {F::rgb, {517, 300}, F::rgb, DType::u8, {256, 256}, &smooth},
    {F::rgb, {170, 111}, F::rgb, DType::u8, {511, 333}, &plain},
    {F::rgba, {301, 199}, F::rgba, DType::u8, {199, 301}, &rotated},
    {F::i420, {401, 277}, F::bgr, DType::i8, {300, 200}, &covered},
    {F::grey, {1000, 700}, F::grey, DType::u8, {31, 17}, &smooth},
    {F::grey, {1000, 700}, F::grey, DType::f16, {61, 43}, &lanczos},
    {F::planar_rgb, {200, 150}, F::nv12, DType::u8, {301, 221}, &cubic},
    {F::bgra, {333, 222}, F::yuyv, DType::u8, {333, 222}, &plain},
    {F::nv16, {2000, 37}, F::i420, DType::u8, {777, 55}, &lanczos},
    {F::nv24, {33, 900}, F::rgb, DType::u8, {71, 450}, &plain},
};

TEST(LargeImages, are_right_in_every_strip) {
  Random random(61);
  Judge judge({.threads = 3});
  for (const Work& w : works) {
    Convert c{random_image(random, w.source.width, w.source.height, w.from, DType::u8, 12),
              random_image(random, w.target.width, w.target.height, w.to, w.dtype, 8)};
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
  for (const Pair& pair :
       {Pair{F::nv12, F::rgba, DType::u8}, Pair{F::yuyv, F::rgb, DType::u8},
        Pair{F::rgba, F::bgra, DType::u8}, Pair{F::rgb, F::planar_rgb, DType::f16},
        Pair{F::rgb, F::nv12, DType::u8}}) {
    Convert c{.src = zero_image(size, pair.from)};
    c.src.set_colorimetry(Colorimetry::jpeg());
    fill_random(random, *c.src.buffer(), DType::u8);
    c.dst = zero_image(size, pair.to, pair.dtype);
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
