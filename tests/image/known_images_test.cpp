// SPDX-License-Identifier: Apache-2.0
// Images whose pixels are all known from arithmetic, through the processor.
#include <gtest/gtest.h>

#include <cmath>

#include "halyard/image.h"
#include "images.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

class KnownImages : public ::testing::Test {
 protected:
  void run(const Convert& request) {
    ASSERT_VALUE(const auto placement, processor_.convert(request));
    placement_ = placement;
  }
  Random random_{1};
  Processor processor_ = Processor::create({.threads = 2}).value();
  Placement placement_;
};

// ITU-R BT.601-7, BT.709-6, BT.2020-2: R' = L + 2 (1 - kr) Cr, and so on, on normalised signals.
std::array<double, 3> itu_rgb(double kr, double kb, bool full, int y, int u, int v) {
  const double l = full ? y / 255.0 : (y - 16) / 219.0;
  const double cb = (u - 128) / (full ? 255.0 : 224.0);
  const double cr = (v - 128) / (full ? 255.0 : 224.0);
  const double r = std::max(l, 0.0) + 2 * (1 - kr) * cr;
  const double b = std::max(l, 0.0) + 2 * (1 - kb) * cb;
  const double kg = 1 - kr - kb;
  const double g = std::max(l, 0.0) - 2 * (1 - kr) * kr / kg * cr - 2 * (1 - kb) * kb / kg * cb;
  return {r, g, b};
}

TEST_F(KnownImages, yuv_to_rgb_is_within_one_of_the_itu_formula) {
  struct Row {
    ColorEncoding encoding;
    double kr, kb;
  };
  for (const Row& row :
       {Row{ColorEncoding::bt601, 0.299, 0.114}, Row{ColorEncoding::bt709, 0.2126, 0.0722},
        Row{ColorEncoding::bt2020, 0.2627, 0.0593}}) {
    for (const ColorRange range : {ColorRange::full, ColorRange::limited}) {
      Convert c{zero_image(86 * 86, 86, F::nv24), zero_image(86 * 86, 86, F::rgb)};
      c.src.set_colorimetry({{}, {}, row.encoding, range});
      const TensorMap map = c.src.map(Access::write).value();
      for (const auto [y, x] : grid(86, 86 * 86)) {
        map.plane(0).writable[y * map.plane(0).stride_bytes + x] = std::byte(y * 3);
        std::byte* uv = &map.plane(1).writable[y * map.plane(1).stride_bytes + 2 * x];
        uv[0] = std::byte(x % 86 * 3);
        uv[1] = std::byte(x / 86 * 3);
      }
      run(c);
      const TensorMap out = c.dst.map(Access::read).value();
      double worst = 0;
      for (const auto [y, x] : grid(86, 86 * 86)) {
        const auto want =
            itu_rgb(row.kr, row.kb, range == ColorRange::full, y * 3, x % 86 * 3, x / 86 * 3);
        for (int k = 0; k < 3; ++k) {
          const double exact = std::clamp(want[k], 0.0, 1.0) * 255;
          const auto got =
              std::to_integer<int>(out.plane(0).data[y * out.plane(0).stride_bytes + 3 * x + k]);
          worst = std::max(worst, std::abs(got - exact));
        }
      }
      EXPECT_LE(worst, 0.57) << to_string(row.encoding) << to_string(range);
    }
  }
}

using Codes = std::array<int, 3>;

Tensor uniform_yuv(PixelFormat format, const Codes& codes, const Colorimetry& colorimetry) {
  Tensor out = zero_image(38, 6, format);
  out.set_colorimetry(colorimetry);
  for (const auto& [y, x, c] : product(upto(6), upto(38), indices(3)))
    set_code(out, c, x, y, codes[c]);
  return out;
}

// Colours outside the RGB gamut and luma below black are kept.
TEST_F(KnownImages, yuv_of_another_colorimetry_comes_by_one_matrix_in_every_format) {
  using enum ColorEncoding;
  constexpr Colorimetry sd_full{{}, {}, bt601, ColorRange::full};
  constexpr Colorimetry hd_full{{}, {}, bt709, ColorRange::full};
  constexpr Colorimetry sd{{}, {}, bt601, ColorRange::limited};
  constexpr Colorimetry hd{{}, {}, bt709, ColorRange::limited};
  struct Row {
    Colorimetry from, to;
    Codes in, out;
  };
  constexpr Row rows[] = {{sd_full, hd_full, {200, 128, 255}, {173, 143, 255}},
                          {sd, hd, {4, 128, 128}, {4, 128, 128}},
                          {hd, sd_full, {4, 128, 128}, {0, 128, 128}},
                          {hd, sd_full, {235, 240, 16}, {243, 255, 0}}};
  const std::span formats(source_formats, 9);
  for (const ColorimetryMode mode : {ColorimetryMode::fast, ColorimetryMode::exact}) {
    processor_ = Processor::create({.threads = 1, .colorimetry_mode = mode}).value();
    for (const auto& [row, from, to] : product(rows, formats, formats)) {
      const Tensor dst = uniform_yuv(to, {}, row.to);
      run({.src = uniform_yuv(from, row.in, row.from), .dst = dst});
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_EQ(code_at(dst, c, 0, 0), row.out[c]) << to_string(from) << to_string(to) << c;
        EXPECT_EQ(code_at(dst, c, 37, 5), row.out[c]) << to_string(from) << to_string(to) << c;
      }
    }
  }
}

// The content pixel that source pixel (x, y) of a w x h crop becomes: flip, then clockwise
// rotation.
std::pair<int, int> moved(int x, int y, int w, int h, Flip flip, Rotation orientation) {
  if (flip == Flip::horizontal) x = w - 1 - x;
  if (flip == Flip::vertical) y = h - 1 - y;
  switch (orientation) {
    case Rotation::cw90:
      return {h - 1 - y, x};
    case Rotation::cw180:
      return {w - 1 - x, h - 1 - y};
    case Rotation::cw270:
      return {y, w - 1 - x};
    default:
      return {x, y};
  }
}

TEST_F(KnownImages, crop_flip_rotate_place_move_each_pixel_where_arithmetic_says) {
  constexpr Region crop{3, 2, 9, 6};
  for (const auto [orientation, flip] : grid(4, 3)) {
    for (const Filter filter : {Filter::nearest, Filter::bilinear, Filter::bicubic}) {
      Convert c{.src = random_image(random_, 20, 15, F::rgba, DType::u8, 8),
                .dst = random_image(random_, 25, 22, F::bgra, DType::u8, 4),
                .crop = crop,
                .flip = static_cast<Flip>(flip),
                .rotation = static_cast<Rotation>(orientation),
                .filter = filter};
      const bool swaps = orientation % 2 == 1;
      c.place = Region{4, 5, swaps ? 6 : 9, swaps ? 9 : 6};
      c.pad = {1, 2, 3, 4};
      run(c);
      for (const auto [y, x] : grid(crop.height, crop.width)) {
        const auto [i, j] = moved(x, y, crop.width, crop.height, c.flip, c.rotation);
        for (std::size_t k = 0; k < 4; ++k)
          ASSERT_EQ(code_at(c.src, k, crop.x + x, crop.y + y), code_at(c.dst, k, 4 + i, 5 + j))
              << describe(c) << " pixel " << x << "," << y;
        const Point back = placement_.to_source(
            Point{static_cast<float>(4 + i) + 0.5F, static_cast<float>(5 + j) + 0.5F});
        ASSERT_FLOAT_EQ(back.x, static_cast<float>(crop.x + x) + 0.5F);
        ASSERT_FLOAT_EQ(back.y, static_cast<float>(crop.y + y) + 0.5F);
      }
      for (std::size_t k = 0; k < 4; ++k)
        EXPECT_EQ(code_at(c.dst, k, 3, 5), static_cast<int>(k) + 1);
    }
  }
}

TEST_F(KnownImages, letterbox_of_720p_fills_rows_140_to_499_of_640) {
  Convert c{.src = random_image(random_, 1280, 720, F::grey),
            .dst = zero_image(640, 640, F::rgb),
            .fit = Fit::letterbox};
  run(c);
  EXPECT_EQ(placement_.content(), (Region{0, 140, 640, 360}));
  for (const int y : {0, 139, 500, 639})
    EXPECT_EQ(code_at(c.dst, 0, 320, y), 114);
  // Half size, no antialias: the mean of the 2 x 2 block under the centre.
  for (const int y : {140, 320, 499}) {
    const int sy = (y - 140) * 2;
    const int sum = code_at(c.src, 0, 200, sy) + code_at(c.src, 0, 201, sy) +
                    code_at(c.src, 0, 200, sy + 1) + code_at(c.src, 0, 201, sy + 1);
    EXPECT_EQ(code_at(c.dst, 1, 100, y), (sum + 2) / 4);
  }
}

TEST_F(KnownImages, letterbox_takes_the_aspect_after_the_rotation) {
  Convert c{.src = random_image(random_, 1280, 720, F::grey),
            .dst = zero_image(640, 640, F::grey),
            .fit = Fit::letterbox};
  c.rotation = Rotation::cw90;
  run(c);
  EXPECT_EQ(placement_.content(), (Region{140, 0, 360, 640}));
}

TEST_F(KnownImages, letterbox_inside_a_place_pads_all_around) {
  Convert c{.src = random_image(random_, 40, 20, F::rgb),
            .dst = random_image(random_, 64, 64, F::planar_rgb),
            .fit = Fit::letterbox,
            .place = Region{10, 20, 20, 30},
            .pad = {9, 8, 7, 6}};
  run(c);
  EXPECT_EQ(placement_.content(), (Region{10, 30, 20, 10}));
  for (const auto& [x, y] :
       {std::pair{0, 0}, std::pair{15, 25}, std::pair{9, 35}, std::pair{63, 63}}) {
    EXPECT_EQ(code_at(c.dst, 0, x, y), 9);
    EXPECT_EQ(code_at(c.dst, 2, x, y), 7);
  }
}

TEST_F(KnownImages, chroma_at_one_to_one_is_replicated_unless_asked_otherwise) {
  Convert c{.src = random_image(random_, 8, 4, F::nv12)};
  c.src.set_colorimetry(Colorimetry::jpeg());
  for (const auto [y, x] : grid(4, 8)) {
    set_code(c.src, 0, x, y, 100);
    set_code(c.src, 1, x, y, 128);
    set_code(c.src, 2, x, y, x < 4 ? 128 : 168);
  }
  c.dst = zero_image(8, 4, F::rgb);
  run(c);
  EXPECT_EQ(code_at(c.dst, 0, 3, 1), 100);
  EXPECT_EQ(code_at(c.dst, 0, 4, 1), 156);  // 100 + 1.402 * 40
  c.chroma = Chroma::bilinear;
  run(c);
  EXPECT_EQ(code_at(c.dst, 0, 3, 1), 114);  // a quarter of the step
  EXPECT_EQ(code_at(c.dst, 0, 4, 1), 142);
}

TEST_F(KnownImages, nothing_outside_the_crop_is_seen) {
  // A slice is an image by itself: pixels around it have no effect.
  constexpr Region region{6, 4, 22, 14};
  for (const auto& [format, filter, antialias, target] : product(
           source_formats, all_filters, {false, true}, {Size{22, 14}, Size{50, 40}, Size{9, 5}})) {
    Convert c{.src = random_image(random_, 40, 30, format, DType::u8, 4),
              .dst = random_image(random_, target.width, target.height, F::rgba),
              .filter = filter,
              .antialias = antialias,
              .chroma = Chroma::bilinear};
    Convert alone = c;
    c.crop = region;
    alone.src = c.src.slice(region).value();
    alone.dst = clone(c.dst);
    run(c);
    run(alone);
    ASSERT_EQ(greatest_difference(c.dst, alone.dst), 0) << describe(c);
  }
}

TEST_F(KnownImages, nv12_to_nv12_of_one_colorimetry_is_exact) {
  for (const int width : {1, 2, 7, 16, 33}) {
    Convert c{random_image(random_, width, 5, F::nv12, DType::u8, 4),
              random_image(random_, width, 5, F::nv12, DType::u8, 12)};
    run(c);
    EXPECT_EQ(greatest_difference(c.src, c.dst), 0);
  }
}

TEST_F(KnownImages, rgb_to_nv12_follows_the_destination_matrix) {
  Convert c{.src = random_image(random_, 2, 2, F::rgb)};
  for (int i = 0; i < 4; ++i) {
    set_code(c.src, 0, i % 2, i / 2, 255);
    set_code(c.src, 1, i % 2, i / 2, 0);
    set_code(c.src, 2, i % 2, i / 2, 0);
  }
  c.dst = zero_image(2, 2, F::nv12);
  c.dst.set_colorimetry({{}, {}, ColorEncoding::bt601, ColorRange::limited});
  run(c);
  EXPECT_EQ(code_at(c.dst, 0, 1, 1), 81);  // SMPTE colour bars: 100 % red
  EXPECT_EQ(code_at(c.dst, 1, 1, 1), 90);
  EXPECT_EQ(code_at(c.dst, 2, 1, 1), 240);
}

TEST_F(KnownImages, pad_takes_the_destination_colours) {
  Convert c{.src = random_image(random_, 4, 4, F::rgb),
            .place = Region{0, 0, 4, 4},
            .pad = {255, 0, 0, 77}};
  c.dst = random_image(random_, 8, 4, F::grey);
  run(c);
  EXPECT_EQ(code_at(c.dst, 0, 7, 0), 76);  // BT.601 luma of red
  c.dst = random_image(random_, 8, 4, F::rgba, DType::i8);
  run(c);
  EXPECT_EQ(code_at(c.dst, 0, 7, 0), 127);
  EXPECT_EQ(code_at(c.dst, 1, 7, 0), 128);
  EXPECT_EQ(code_at(c.dst, 3, 7, 0), 77);
  EXPECT_EQ(code_at(c.dst, 3, 1, 0), 255);  // new alpha, unbiased
  c.dst = random_image(random_, 8, 4, F::planar_rgb, DType::f32);
  c.normalize = Normalize::mean_std({0.5F, 0.5F, 0.5F}, {0.5F, 0.25F, 0.5F});
  run(c);
  EXPECT_FLOAT_EQ(float_at(c.dst, 0, 7, 3), 1.0F);
  EXPECT_FLOAT_EQ(float_at(c.dst, 1, 7, 3), -2.0F);
}

TEST_F(KnownImages, grey_sources_and_targets) {
  Convert c{.src = random_image(random_, 4, 4, F::nv12)};
  c.src.set_colorimetry({{}, {}, ColorEncoding::bt709, ColorRange::limited});
  set_code(c.src, 0, 0, 0, 16);
  set_code(c.src, 0, 1, 0, 235);
  set_code(c.src, 0, 2, 0, 126);
  set_code(c.src, 0, 3, 0, 255);
  c.dst = zero_image(4, 4, F::grey);
  run(c);
  EXPECT_EQ(code_at(c.dst, 0, 0, 0), 0);
  EXPECT_EQ(code_at(c.dst, 0, 1, 0), 255);
  EXPECT_EQ(code_at(c.dst, 0, 2, 0), 128);
  EXPECT_EQ(code_at(c.dst, 0, 3, 0), 255);
  Convert back{c.dst, zero_image(4, 4, F::nv12)};
  back.dst.set_colorimetry(c.src.colorimetry());
  run(back);
  EXPECT_EQ(code_at(back.dst, 0, 2, 0), 126);
  EXPECT_EQ(code_at(back.dst, 1, 2, 0), 128);
}

TEST_F(KnownImages, results_do_not_depend_on_the_thread_count) {
  auto alone = Processor::create({.threads = 1}).value();
  Convert c{.src = random_image(random_, 500, 300, F::nv12),
            .dst = random_image(random_, 400, 400, F::rgb),
            .fit = Fit::letterbox};
  run(c);
  Convert other = c;
  other.dst = clone(c.dst);
  ASSERT_TRUE(alone.convert(other));
  EXPECT_EQ(greatest_difference(c.dst, other.dst), 0);
}

}  // namespace
}  // namespace halyard::test
