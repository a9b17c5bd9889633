// SPDX-License-Identifier: Apache-2.0
// What OpenGL makes in more than a few samples: affine maps, mosaics, wide filters in two passes.
#ifdef HALYARD_HAVE_GL
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "image/gl/gl_fixture.h"
#include "support/allocations.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

using GlAffine = GlBackend;
using GlMosaic = GlBackend;
using GlTwoPasses = GlBackend;
using GlPairs = GlBackend;

constexpr F mosaics[] = {F::bayer_rggb, F::bayer_bggr, F::bayer_grbg, F::bayer_gbrg};

// Rotates, scales and shifts.
Affine rotated_affine(double degrees, double horizontal, double vertical, double x, double y) {
  const double angle = degrees * std::numbers::pi / 180;
  return {{std::cos(angle) * horizontal, -std::sin(angle) * vertical, x,
           std::sin(angle) * horizontal, std::cos(angle) * vertical, y}};
}

TEST_F(GlAffine, every_filter_is_that_of_the_reference) {
  for (const auto& [format, filter, antialias] :
       product({F::rgb, F::nv12, F::yuyv}, all_filters, {false, true})) {
    for (const double scale : {0.31, 0.9, 2.3}) {
      Convert c = request(format, F::rgba);
      c.affine = rotated_affine(pick(random_, 0, 359), scale, 1.2 * scale, pick(random_, 5, 15),
                                pick(random_, 5, 20));
      c.filter = filter;
      c.antialias = antialias;
      EXPECT_TRUE(compare(c));
    }
  }
}

TEST_F(GlAffine, positions_on_borders_of_samples_are_exact) {
  for (const auto& [filter, antialias] : product(all_filters, {false, true})) {
    for (const Affine& map :
         {Affine{{1, 0, 3, 0, 1, 2}}, Affine{{0.5, 0, 0, 0, 0.5, 0}}, Affine{{0, -1, 20, 1, 0, 1}},
          Affine{{4, 0, -7.5, 0, 2, 0.25}}, Affine{{1 / 3.0, 0, 0, 0, 1 / 3.0, 0}}}) {
      Convert c = request(F::i420, F::nv12);
      c.affine = map;
      c.filter = filter;
      c.antialias = antialias;
      EXPECT_TRUE(compare(c));
    }
  }
}

TEST_F(GlAffine, pads_outside_the_crop_and_the_place) {
  for (const F to : {F::rgb, F::nv12, F::yuyv, F::planar_rgb}) {
    Convert c = request(F::rgba, to, DType::u8, {40, 30}, {31, 23});
    c.affine = rotated_affine(25, 0.7, 0.6, 12, -3);
    c.crop = RegionF(5.25, 3.5, 25, 20.75);
    c.place = Region{3, 2, 25, 19};
    c.orientation = Orientation{Flip::vertical, Rotation::cw90};
    c.crop = RegionF(3.5, 5.25, 20.75, 25);
    c.pad = {7, 99, 201, 33};
    EXPECT_TRUE(compare(c));
  }
}

TEST_F(GlAffine, positions_in_large_images_are_as_exact) {
  for (const Filter filter : {Filter::nearest, Filter::bilinear, Filter::box}) {
    Convert c = request(F::grey, F::grey, DType::u8, {2048, 16}, {2000, 8});
    c.affine = rotated_affine(0.1, 0.97, 0.9, 0.3, -1);
    c.filter = filter;
    c.antialias = filter == Filter::box;
    EXPECT_TRUE(compare(c));
  }
}

TEST_F(GlMosaic, every_pattern_is_demosaiced_as_the_reference_says) {
  for (const auto& [format, dtype] : product(mosaics, {DType::u8, DType::u16})) {
    SCOPED_TRACE(to_string(format));
    for (const Size size : {Size{18, 14}, {17, 9}, {1, 5}, {6, 1}}) {
      Convert c{.src = random_image(random_, size.width, size.height, format, dtype, 12),
                .dst = zero_image(size.width, size.height, F::rgb)};
      if (dtype == DType::u16) c.source_bits = 12;
      EXPECT_TRUE(compare(c));
      c.dst = zero_image(23, 20, F::nv12);
      c.rotation = Rotation::cw90;
      EXPECT_TRUE(compare(c));
      c.filter = Filter::bicubic;
      EXPECT_TRUE(compare(c));
      c.rotation = Rotation::none;
      c.affine = rotated_affine(31, 1.3, 0.8, 4, 2);
      EXPECT_TRUE(compare(c));
    }
  }
}

TEST_F(GlMosaic, neighbours_outside_of_a_crop_are_read) {
  Convert c = request(F::bayer_grbg, F::planar_rgba, DType::f32);
  c.crop = Region{7, 5, 9, 8};
  for (const Filter filter : all_filters) {
    c.filter = filter;
    c.antialias = !c.antialias;
    EXPECT_TRUE(compare(c));
  }
}

TEST_F(GlTwoPasses, wide_filters_of_every_layout_are_those_of_the_reference) {
  for (const auto& [from, to] : {std::pair(F::rgb, F::rgb),
                                 {F::nv12, F::planar_rgb},
                                 {F::i420, F::nv12},
                                 {F::nv16, F::yuyv},
                                 {F::grey, F::rgba},
                                 {F::planar_rgba, F::bgra},
                                 {F::bayer_rggb, F::rgb}}) {
    for (const auto& [filter, antialias, rotation] :
         product({Filter::bilinear, Filter::bicubic, Filter::lanczos3, Filter::box}, {false, true},
                 {Rotation::none, Rotation::cw90, Rotation::cw180})) {
      Convert c = request(from, to, DType::u8, {130, 96}, {14, 9});
      c.filter = filter;
      c.antialias = antialias;
      c.rotation = rotation;
      c.crop = RegionF(11, 6.5, 100.25, 80);
      c.fit = Fit::letterbox;
      EXPECT_TRUE(compare(c));
    }
  }
}

TEST_F(GlTwoPasses, a_whole_image_becomes_a_few_pixels) {
  for (const Filter filter : {Filter::bilinear, Filter::lanczos3, Filter::box}) {
    Convert c = request(F::yuyv, F::rgb, DType::f32, {800, 600}, {3, 2});
    c.filter = filter;
    c.antialias = true;
    EXPECT_TRUE(compare(c));
  }
}

// Each texel of a plane of chroma is made of sixteen pixels. The limit keeps its loops finite.
TEST_F(GlTwoPasses, the_longest_loops_are_not_cut) {
  for (const F to : {F::i420, F::grey}) {
    const int pixels = to == F::i420 ? 16 : 4;
    const int taps = 32768 / pixels;
    Convert c = request(F::grey, to, DType::u8, {4, taps - 2}, {4, 2});
    c.filter = Filter::bilinear;
    c.antialias = true;
    EXPECT_TRUE(compare(c));
    c = request(F::grey, to, DType::u8, {90, 90}, {4, 4});
    c.affine = Affine{{to == F::i420 ? 0.046 : 0.023, 0, 0, 0, to == F::i420 ? 0.046 : 0.023, 0}};
    c.antialias = true;
    EXPECT_TRUE(compare(c));
  }
}

TEST_F(GlTwoPasses, sixteen_bits_are_kept) {
  Convert c{.src = random_image(random_, 90, 70, F::grey, DType::u16),
            .dst = zero_image(12, 11, F::grey, DType::u16)};
  c.filter = Filter::lanczos3;
  c.antialias = true;
  EXPECT_TRUE(compare(c));
}

TEST_F(GlPairs, an_odd_width_ends_in_half_a_pair) {
  for (const auto& [to, width] :
       product({F::yuyv, F::uyvy, F::yvyu, F::vyuy}, {1, 2, 3, 7, 16, 31})) {
    Convert c = request(F::rgb, to, DType::u8, {width, 6}, {width, 6});
    EXPECT_TRUE(compare(c)) << width;
    c = request(F::nv12, to, DType::u8, {20, 20}, {width, 6});
    c.fit = Fit::letterbox;
    EXPECT_TRUE(compare(c)) << width;
  }
}

TEST_F(GlTwoPasses, the_steady_state_allocates_nothing) {
  std::vector<Convert> all = {request(F::bayer_rggb, F::rgb), request(F::nv12, F::yuyv),
                              request(F::nv12, F::planar_rgb, DType::f16)};
  all[0].filter = Filter::lanczos3;
  all[1].affine = rotated_affine(20, 0.5, 0.5, 3, 3);
  all[2].antialias = true;
  all[2].filter = Filter::lanczos3;
  EXPECT_EQ(allocations_of([&] {
              for (const Convert& c : all)
                EXPECT_TRUE(processor().convert(c));
            }),
            0U);
}

}  // namespace
}  // namespace halyard::test
#endif
