// SPDX-License-Identifier: Apache-2.0
// The reference itself, compared with numbers calculated by hand and identities that need no
// computation.
#include "image/reference/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "images.h"
#include "support/product.h"

namespace halyard::test {
namespace {

using F = PixelFormat;
using reference::Geometry;
using reference::Image;
using reference::reference_convert;
using reference::Spot;
using reference::Taps;
using reference::taps_at;

class Reference : public ::testing::Test {
 protected:
  Convert request(Size from, PixelFormat source, Size to, PixelFormat target,
                  DType dtype = DType::u8) {
    return {random_image(random_, from.width, from.height, source),
            random_image(random_, to.width, to.height, target, dtype)};
  }
  Random random_{1};
};

void fill(const Tensor& image, std::array<int, 4> codes) {
  for (std::size_t c = 0; c < reference::channel_count(*image.format()); ++c) {
    for (const auto [y, x] : grid(image.size().height, image.size().width))
      set_code(image, c, x, y, codes[c]);
  }
}

double value(const Convert& c, std::size_t channel, int x = 0, int y = 0) {
  return reference_convert(c).channel[channel].at(x, y).value;
}

std::vector<double> weights(const Taps& taps) {
  std::vector<double> out;
  for (const auto& tap : taps)
    out.push_back(tap.weight);
  return out;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 1e-12) << i;
}

TEST_F(Reference, knows_the_order_of_every_packed_format) {
  struct Row {
    PixelFormat format;
    std::array<int, 4> bytes;  // byte of each channel in the first pixel or pair
  };
  for (const Row& row :
       {Row{F::yuyv, {0, 1, 3, 0}}, Row{F::uyvy, {1, 0, 2, 0}}, Row{F::vyuy, {1, 2, 0, 0}},
        Row{F::yvyu, {0, 3, 1, 0}}, Row{F::rgba, {0, 1, 2, 3}}, Row{F::bgra, {2, 1, 0, 3}},
        Row{F::bgr, {2, 1, 0, 0}}}) {
    for (std::size_t c = 0; c < reference::channel_count(row.format); ++c)
      EXPECT_EQ(reference::site_of(row.format, c).offset, row.bytes[c]) << to_string(row.format);
  }
}

TEST_F(Reference, bilinear_without_antialias_blends_two_samples) {
  expect_near(weights(taps_at({0.75, 0.5, 0, 4, false}, Filter::bilinear, false)), {0.75, 0.25});
  // At the edge, the sample outside is the edge sample.
  expect_near(weights(taps_at({0.25, 0.5, 0, 4, false}, Filter::bilinear, false)), {1});
  // Four times smaller: still two taps.
  expect_near(weights(taps_at({2.0, 4.0, 0, 4, false}, Filter::bilinear, false)), {0.5, 0.5});
}

TEST_F(Reference, antialiased_kernels_widen_and_lose_what_lies_outside) {
  const double s = 7;
  expect_near(weights(taps_at({1, 2, 0, 4, false}, Filter::bilinear, true)), {3 / s, 3 / s, 1 / s});
  expect_near(weights(taps_at({3, 2, 0, 8, false}, Filter::bilinear, true)),
              {1.0 / 8, 3.0 / 8, 3.0 / 8, 1.0 / 8});
  expect_near(weights(taps_at({1.5, 3, 0, 9, false}, Filter::box, true)),
              {1.0 / 3, 1.0 / 3, 1.0 / 3});
}

TEST_F(Reference, cubic_weights_are_those_of_keys) {
  // At a half: a/8 outside, (4 - a)/8 ... for a = -0.75: -3/32 and 19/32.
  expect_near(weights(taps_at({4, 0.5, 0, 8, false}, Filter::bicubic, false)),
              {-3.0 / 32, 19.0 / 32, 19.0 / 32, -3.0 / 32});
  expect_near(weights(taps_at({4, 0.5, 0, 8, false}, Filter::bicubic, true)),
              {-1.0 / 16, 9.0 / 16, 9.0 / 16, -1.0 / 16});
}

TEST_F(Reference, nearest_takes_the_sample_under_the_centre_after_the_mirror) {
  EXPECT_EQ(taps_at({2, 4, 0, 4, false}, Filter::nearest, false).front().sample, 2);
  EXPECT_EQ(taps_at({2, 4, 0, 4, true}, Filter::nearest, false).front().sample, 1);
  EXPECT_EQ(taps_at({2.5, 4, 0, 4, true}, Filter::nearest, true).front().sample, 2);
}

TEST_F(Reference, moves_codes_at_one_to_one_whatever_the_filter) {
  for (const auto& [format, filter, antialias] :
       product(source_formats, all_filters, {false, true})) {
    Convert c = request({7, 5}, format, {7, 5}, format);
    if (info(format).model == ColorModel::yuv) c.dst.set_colorimetry(c.src.colorimetry());
    c.filter = filter;
    c.antialias = antialias;
    const Image got = reference_convert(c);
    for (std::size_t k = 0; k < got.channels; ++k) {
      const reference::Site site = reference::site_of(format, k);
      for (const auto [y, x] : grid(got.channel[k].rows, got.channel[k].columns)) {
        const auto& e = got.channel[k].at(x, y);
        EXPECT_TRUE(e.exact);
        EXPECT_NEAR(e.value, code_at(c.src, k, x << site.shift_x, y << site.shift_y), 1e-9);
      }
    }
  }
}

TEST_F(Reference, keeps_a_constant_image_constant_at_every_scale) {
  for (const auto& [filter, antialias, target] :
       product(all_filters, {false, true}, {Size{3, 17}, Size{11, 9}, Size{40, 2}})) {
    Convert c = request({11, 9}, F::i420, target, F::nv16);
    fill(c.src, {77, 99, 201, 0});
    c.filter = filter;
    c.antialias = antialias;
    c.crop = RegionF(1.3, 0.6, 8.9, 7.7);
    const Image got = reference_convert(c);
    for (const auto& e : got.channel[2].samples)
      EXPECT_NEAR(e.value, 201, 1e-9);
  }
}

TEST_F(Reference, yuv_to_rgb_has_the_coefficients_of_the_standards) {
  struct Row {
    ColorEncoding encoding;
    ColorRange range;
    double rv, bu, gu, gv;
  };
  for (const Row& row : {Row{ColorEncoding::bt601, ColorRange::limited, 1.596, 2.017, 0.391, 0.813},
                         Row{ColorEncoding::bt709, ColorRange::limited, 1.793, 2.113, 0.213, 0.533},
                         Row{ColorEncoding::bt601, ColorRange::full, 1.402, 1.772, 0.344, 0.714}}) {
    Convert c = request({1, 1}, F::nv24, {1, 1}, F::rgb);
    c.src.set_colorimetry({{}, {}, row.encoding, row.range});
    fill(c.src, {126, 128, 128, 0});
    const double grey = value(c, 0);
    EXPECT_NEAR(grey, row.range == ColorRange::full ? 126 : 110 * 255.0 / 219, 1e-9);
    fill(c.src, {126, 128, 138, 0});
    EXPECT_NEAR(value(c, 0) - grey, 10 * row.rv, 0.01);
    EXPECT_NEAR(grey - value(c, 1), 10 * row.gv, 0.01);
    fill(c.src, {126, 138, 128, 0});
    EXPECT_NEAR(value(c, 2) - grey, 10 * row.bu, 0.01);
    EXPECT_NEAR(grey - value(c, 1), 10 * row.gu, 0.01);
    fill(c.src, {3, 128, 128, 0});
    EXPECT_EQ(value(c, 0), row.range == ColorRange::limited ? 0 : 3);
  }
}

TEST_F(Reference, rgb_to_yuv_gives_the_colour_bars) {
  Convert c = request({3, 3}, F::rgb, {3, 3}, F::nv12);
  c.dst.set_colorimetry({{}, {}, ColorEncoding::bt601, ColorRange::limited});
  fill(c.src, {255, 0, 0, 0});  // SMPTE: 81 90 240
  EXPECT_NEAR(value(c, 0, 2, 2), 81, 0.5);
  EXPECT_NEAR(value(c, 1, 1, 1), 90, 0.5);
  EXPECT_NEAR(value(c, 2, 1, 1), 240, 1e-9);
}

TEST_F(Reference, unknown_colorimetry_follows_the_height) {
  Convert c = request({1, 720}, F::grey, {1, 720}, F::rgb);
  c.src = random_image(random_, 1, 720, F::nv24);
  fill(c.src, {126, 128, 138, 0});
  const double hd = value(c, 0);
  c.src = random_image(random_, 1, 719, F::nv24);
  fill(c.src, {126, 128, 138, 0});
  EXPECT_NEAR(hd - value(c, 0), 10 * (1.793 - 1.596), 0.01);
}

TEST_F(Reference, grey_is_luma_in_full_range_and_alpha_steps_are_as_written) {
  Convert c = request({1, 1}, F::rgba, {1, 1}, F::grey);
  fill(c.src, {200, 100, 50, 51});
  EXPECT_NEAR(value(c, 0), 0.299 * 200 + 0.587 * 100 + 0.114 * 50, 1e-9);
  c.dst = random_image(random_, 1, 1, F::bgra);
  EXPECT_NEAR(value(c, 3), 51, 1e-9);
  c.alpha = AlphaStep::premultiply;
  EXPECT_NEAR(value(c, 0), 40, 1e-9);
  fill(c.src, {20, 10, 51, 51});
  c.alpha = AlphaStep::unpremultiply;
  EXPECT_NEAR(value(c, 0), 100, 1e-9);
  EXPECT_NEAR(value(c, 2), 255, 1e-9);
  fill(c.src, {20, 10, 51, 0});
  EXPECT_EQ(value(c, 0), 0);
}

TEST_F(Reference, turns_follow_flips_and_orientation_comes_first) {
  Convert c = request({3, 2}, F::grey, {2, 3}, F::grey);
  c.flip = Flip::horizontal;
  c.rotation = Rotation::cw90;
  // 0 1 2 / 3 4 5, flipped 2 1 0 / 5 4 3, rotated clockwise 5 2 / 4 1 / 3 0.
  constexpr int want[3][2] = {{5, 2}, {4, 1}, {3, 0}};
  for (const auto [y, x] : grid(3, 2))
    EXPECT_EQ(value(c, 0, x, y), code_at(c.src, 0, want[y][x] % 3, want[y][x] / 3));
  // The same from the image's own orientation, with a rotation after it.
  Convert rotated = c;
  rotated.orientation = Orientation{c.flip, c.rotation};
  rotated.flip = Flip::none;
  rotated.rotation = Rotation::cw180;
  for (const auto [y, x] : grid(3, 2))
    EXPECT_EQ(value(rotated, 0, x, y), value(c, 0, 1 - x, 2 - y));
}

TEST_F(Reference, letterboxes_by_the_rule_that_is_named) {
  Convert c = request({128, 72}, F::grey, {64, 64}, F::grey);
  c.fit = Fit::letterbox;
  EXPECT_EQ(reference_convert(c).content, (Region{0, 14, 64, 36}));
  c.src = random_image(random_, 100, 33, F::grey);  // 64 * 0.33 = 21.12
  c.letterbox = LetterboxRule::ultralytics;
  EXPECT_EQ(reference_convert(c).content, (Region{0, 21, 64, 21}));  // 21.5 - 0.1 rounded down
  c.src = random_image(random_, 20, 10, F::grey);
  c.letterbox = LetterboxRule::ultralytics_val;
  EXPECT_EQ(reference_convert(c).content, (Region{22, 27, 20, 10}));
  c.fit = Fit::top_left;
  EXPECT_EQ(reference_convert(c).content, (Region{0, 0, 64, 32}));
  c.fit = Fit::cover;
  EXPECT_EQ(reference_convert(c).crop, RegionF(5, 0, 10, 10));
  c.rotation = Rotation::cw90;
  c.place = Region{0, 0, 64, 32};  // a rotated strip of 10 x 5
  EXPECT_EQ(reference_convert(c).crop, RegionF(7.5, 0, 5, 10));
}

TEST_F(Reference, a_free_map_agrees_with_the_turns_that_it_stands_for) {
  Convert c = request({8, 6}, F::rgb, {12, 16}, F::rgb);
  c.rotation = Rotation::cw90;  // (x, y) -> (6 - y, x), twice as large
  Convert free = c;
  free.rotation = Rotation::none;
  free.affine = Affine{{0, -2, 12, 2, 0, 0}};
  const Image rotated = reference_convert(c);
  const Image mapped = reference_convert(free);
  for (std::size_t i = 0; i < rotated.channel[1].samples.size(); ++i)
    EXPECT_NEAR(rotated.channel[1].samples[i].value, mapped.channel[1].samples[i].value, 1e-9);
  free.affine = Affine{{1, 0, 4, 0, 1, 3}};
  free.pad = {9, 8, 7, 6};
  EXPECT_EQ(value(free, 1, 3, 3), 8);
  EXPECT_EQ(value(free, 1, 4, 3), code_at(c.src, 1, 0, 0));
  EXPECT_EQ(value(free, 2, 11, 9), 7);
}

TEST_F(Reference, demosaics_by_the_nearest_samples_and_mirrors_the_edges) {
  Convert c = request({5, 4}, F::bayer_grbg, {5, 4}, F::rgb);
  const auto raw = [&](int x, int y) { return code_at(c.src, 0, x, y); };
  // G R G R G / B G B G B / G R G R G / B G B G B
  EXPECT_EQ(value(c, 1, 0, 0), raw(0, 0));
  EXPECT_EQ(value(c, 0, 2, 2), (raw(1, 2) + raw(3, 2)) / 2.0);
  EXPECT_EQ(value(c, 2, 2, 2), (raw(2, 1) + raw(2, 3)) / 2.0);
  EXPECT_EQ(value(c, 1, 3, 2), (raw(2, 2) + raw(4, 2) + raw(3, 1) + raw(3, 3)) / 4.0);
  EXPECT_EQ(value(c, 2, 3, 2), (raw(2, 1) + raw(4, 1) + raw(2, 3) + raw(4, 3)) / 4.0);
  EXPECT_EQ(value(c, 0, 0, 0), raw(1, 0));
  EXPECT_EQ(value(c, 2, 1, 0), (raw(0, 1) + raw(2, 1)) / 2.0);
  EXPECT_EQ(value(c, 0, 4, 3), raw(3, 2));
}

TEST_F(Reference, sixteen_bit_samples_count_by_their_bits) {
  Convert c = request({1, 1}, F::grey, {1, 1}, F::grey);
  c.src = random_image(random_, 1, 1, F::grey, DType::u16, 0, 0, 10);
  {
    const TensorMap map = c.src.map(Access::write).value();
    const std::uint16_t sample = 341;
    std::memcpy(map.plane(0).writable, &sample, sizeof sample);
  }
  c.source_bits = 10;
  EXPECT_NEAR(value(c, 0), 85, 1e-9);
}

TEST_F(Reference, stores_each_dtype_as_the_header_says) {
  Convert c = request({1, 1}, F::rgba, {1, 1}, F::rgba, DType::i8);
  fill(c.src, {128, 0, 255, 200});
  EXPECT_EQ(value(c, 0), 0);
  EXPECT_EQ(value(c, 1), -128);
  EXPECT_EQ(value(c, 3), 200);  // alpha keeps its byte
  ASSERT_TRUE(c.dst.set_quantization(Quantization::per_tensor(0.02F, 3)));
  EXPECT_NEAR(value(c, 0), 128 / 255.0 / 0.02 + 3, 1e-4);
  EXPECT_NEAR(value(c, 2), 53, 1e-4);
  c.normalize = Normalize::mean_std({0.5F, 0.5F, 0.5F}, {0.25F, 0.25F, 0.25F});
  EXPECT_NEAR(value(c, 2), 2 / 0.02 + 3, 1e-3);
  EXPECT_NEAR(value(c, 1), -97, 1e-3);
  c.normalize.reset();
  c.dst = random_image(random_, 1, 1, F::planar_rgb, DType::u16);
  EXPECT_EQ(value(c, 0), 128 * 257);
  c.dst = random_image(random_, 1, 1, F::planar_rgb, DType::bf16);
  EXPECT_NEAR(value(c, 0), 128 / 255.0, 1e-7);
}

TEST_F(Reference, pads_in_the_colours_of_the_destination_and_into_its_blocks) {
  Convert c = request({1, 2}, F::rgb, {2, 2}, F::nv12);
  c.dst.set_colorimetry(Colorimetry::jpeg());
  fill(c.src, {255, 0, 0, 0});
  c.place = Region{0, 0, 1, 2};
  c.pad = {0, 0, 0, 0};
  EXPECT_NEAR(value(c, 0, 0, 0), 76.245, 1e-9);
  EXPECT_EQ(value(c, 0, 1, 0), 0);
  EXPECT_NEAR(value(c, 2), (255 + 128) / 2.0, 1e-9);  // 255.5 is not a code
}

}  // namespace
}  // namespace halyard::test
