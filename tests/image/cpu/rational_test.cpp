// SPDX-License-Identifier: Apache-2.0
// Integer-ratio axes: which axes they are, and the images that they filter.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "cases.h"
#include "each_target.h"
#include "guarded.h"
#include "image/cpu/resample/rational_axis.h"
#include "image/cpu/resample/sampler.h"
#include "image/differential.h"
#include "image/plan.h"
#include "support/product.h"

namespace halyard::test {
namespace {

using F = PixelFormat;
using image::AxisRequest;
using image::make_rational_axis;
using image::RationalAxis;

AxisRequest axis_of(int samples, int outputs, bool antialias) {
  return axis(0, samples, samples, outputs, antialias);
}

std::vector<int> weights_of(const RationalAxis& axis, int x) {
  const RationalAxis::Weights& all = axis.weights_of(x);
  return {all.begin(), all.begin() + axis.taps};
}

TEST(RationalAxis, knows_the_ratios_of_cameras_and_networks) {
  const auto three = make_rational_axis(axis_of(1920, 640, true)).value();
  EXPECT_EQ(three.sum, 9);
  EXPECT_EQ(weights_of(three, 7), (std::vector{1, 2, 3, 2, 1}));
  EXPECT_EQ(three.first_of(7), 20);
  const auto middle = make_rational_axis(axis_of(1920, 640, false)).value();
  EXPECT_EQ(weights_of(middle, 3), (std::vector{1}));
  EXPECT_EQ(middle.first_of(3), 10);
  const auto half = make_rational_axis(axis_of(960, 640, false)).value();
  EXPECT_EQ(weights_of(half, 0), (std::vector{3, 1}));
  EXPECT_EQ(weights_of(half, 5), (std::vector{1, 3}));
  EXPECT_EQ(half.first_of(5), 7);
  const auto widened = make_rational_axis(axis_of(960, 640, true)).value();
  EXPECT_EQ(weights_of(widened, 2), (std::vector{1, 5, 3}));
  EXPECT_EQ(widened.first_of(2), 2);
}

TEST(RationalAxis, counts_what_is_left_at_edges) {
  const auto axis = make_rational_axis(axis_of(96, 32, true)).value();
  EXPECT_EQ(axis.sum_of(0), 8);
  EXPECT_EQ(axis.sum_of(1), 9);
  EXPECT_EQ(axis.sum_of(31), 8);
  EXPECT_EQ(make_rational_axis(axis_of(32, 64, false)).value().sum_of(0), 4);
}

TEST(RationalAxis, leaves_all_others_alone) {
  EXPECT_FALSE(make_rational_axis(axis_of(1000, 333, false)));  // no period
  EXPECT_FALSE(make_rational_axis(axis_of(64, 48, false)));     // a period of three outputs
  EXPECT_FALSE(make_rational_axis(axis_of(900, 30, true)));     // too many taps
  EXPECT_FALSE(make_rational_axis(axis_of(16, 128, false)));    // four outputs beyond an edge
  AxisRequest other = axis_of(96, 32, false);
  other.filter = Filter::bicubic;
  EXPECT_FALSE(make_rational_axis(other));
  other.filter = Filter::box;
  EXPECT_TRUE(make_rational_axis(other));
  other.mirrored = true;
  EXPECT_FALSE(make_rational_axis(other));
}

/// Whether the integer-ratio sampler serves the plan of such a request.
bool is_whole(const Convert& c, ColorimetryMode mode = ColorimetryMode::fast) {
  const auto plan = image::make_plan(c, mode).value();
  return image::make_rational(plan, 3) != nullptr;
}

TEST(Rational, serves_what_it_is_made_for_and_nothing_else) {
  Random random(71);
  Convert c{.src = random_image(random, 1920, 1080, F::nv12),
            .dst = random_image(random, 640, 640, F::rgb),
            .fit = Fit::letterbox};
  for (const auto& [antialias, from] : product({false, true}, {F::nv12, F::yuyv, F::rgb})) {
    c.antialias = antialias;
    c.src = random_image(random, 1920, 1080, from);
    EXPECT_TRUE(is_whole(c)) << static_cast<int>(from) << antialias;
  }
  EXPECT_FALSE(is_whole(c, ColorimetryMode::exact));
  c.flip = Flip::horizontal;
  EXPECT_FALSE(is_whole(c));
  c.flip = Flip::none;
  c.filter = Filter::lanczos3;
  EXPECT_FALSE(is_whole(c));
  c.filter = Filter::bilinear;
  c.src = random_image(random, 1000, 700, F::nv12);
  EXPECT_FALSE(is_whole(c));
}

struct Ratio {
  int samples;
  int outputs;
};
constexpr Ratio ratios[] = {{3, 1}, {3, 2}, {2, 1}, {4, 1}, {6, 1}, {5, 4}, {1, 2}, {1, 1}};

constexpr PixelFormat rational_formats[] = {F::nv12, F::nv16, F::nv24, F::i420, F::yuyv,
                                            F::uyvy, F::rgb,  F::rgba, F::grey};

/// Scales both axes by `ratio`, with about `outputs` outputs along rows.
Convert scaled(Random& random, PixelFormat from, Ratio ratio, int outputs, bool antialias) {
  const int periods = (outputs + ratio.outputs - 1) / ratio.outputs;
  return {.src = random_image(random, periods * ratio.samples, 6 * ratio.samples, from),
          .dst = random_image(random, periods * ratio.outputs, 6 * ratio.outputs, F::rgb),
          .antialias = antialias};
}

TEST(Rational, is_what_the_formula_says_on_every_instruction_set) {
  for_each_target([] {
    Random random(72);
    Judge judge({.threads = 1});
    for (const auto& [from, ratio, antialias] : product(rational_formats, ratios, {false, true})) {
      const int outputs = pick(random, 16, 75);
      judge.compare(scaled(random, from, ratio, outputs, antialias));
      if (judge.gives_up()) return;
    }
  });
}

/// Whether every sample of a float image of one channel is `value`.
::testing::AssertionResult is_all(const Tensor& image, float value) {
  const TensorMap map = image.map(Access::read).value();
  for (int y = 0; y < static_cast<int>(image.height()); ++y) {
    const auto* row = reinterpret_cast<const float*>(
        map.plane(0).data + static_cast<std::size_t>(y) * map.plane(0).stride_bytes);
    for (std::size_t x = 0; x < image.width(); ++x) {
      if (row[x] == value) continue;
      return ::testing::AssertionFailure() << row[x] << " at " << x << " " << y;
    }
  }
  return ::testing::AssertionSuccess();
}

TEST(Rational, keeps_white_exactly_white) {
  Random random(78);
  Processor processor = Processor::create({.threads = 1}).value();
  for_each_target([&] {
    for (const auto& [ratio, antialias] : product(ratios, {false, true})) {
      Convert c = scaled(random, F::grey, ratio, 40, antialias);
      c.dst = random_image(random, static_cast<int>(c.dst.width()),
                           static_cast<int>(c.dst.height()), F::grey, DType::f32);
      c.normalize = Normalize{{1, 1, 1, 1}, {}};
      std::memset(c.src.map(Access::write).value().writable(), 255, c.src.size_bytes());
      ASSERT_TRUE(processor.convert(c));
      ASSERT_TRUE(is_all(c.dst, 255)) << describe(c);
    }
  });
}

// Samples have 7 fractional bits. The first and the last of a row, which the sums beyond the image
// are taken out of, are rounded once more.
TEST(Rational, samples_of_one_value_are_that_value_to_the_last_bit) {
  Random random(79);
  constexpr Ratio odd[] = {{3, 1}, {3, 2}, {2, 1}, {4, 1}, {5, 1}, {7, 1}, {9, 1}, {1, 1}};
  for_each_target([&] {
    int served = 0;
    for (const auto& [ratio, filter, antialias, value] : product(
             odd, {Filter::bilinear, Filter::box}, {false, true}, {1, 2, 85, 128, 171, 254, 255})) {
      Convert c = scaled(random, F::grey, ratio, 40, antialias);
      c.dst = random_image(random, static_cast<int>(c.dst.width()),
                           static_cast<int>(c.dst.height()), F::grey);
      c.filter = filter;
      const auto plan = image::make_plan(c, ColorimetryMode::fast).value();
      const auto sampler = image::make_rational(plan, 1);
      if (sampler == nullptr) continue;
      ++served;
      std::memset(c.src.map(Access::write).value().writable(), value, c.src.size_bytes());
      const TensorMap src = *c.src.map(Access::read), dst = *c.dst.map(Access::write);
      AlignedWorkspace workspace(sampler->workspace_bytes());
      sampler->begin(workspace.data());
      for (int y = 0; y < sampler->rows(); ++y) {
        const image::SampleRows row =
            sampler->row(image::map_frame(plan, src, dst), y, workspace.data());
        for (int x = 0; x < sampler->columns(); ++x) {
          const bool is_inside = x > 0 && x < sampler->columns() - 1;
          ASSERT_NEAR(row.channel[0][x], value * 128, is_inside ? 0 : 1)
              << describe(c) << " " << x << " " << y;
        }
      }
    }
    EXPECT_GT(served, 70);
  });
}

TEST(Rational, is_right_at_every_width) {
  Random random(73);
  Judge judge({.threads = 1});
  for (const PixelFormat from : {F::nv12, F::yuyv, F::rgb}) {
    for (int outputs = 14; outputs < 70 && !judge.gives_up(); outputs += slowness) {
      for (const bool antialias : {false, true}) {
        judge.compare(scaled(random, from, {3, 1}, outputs, antialias));
        judge.compare(scaled(random, from, {3, 2}, outputs, antialias));
      }
    }
  }
}

TEST(Rational, begins_and_ends_with_any_crop) {
  Random random(74);
  Judge judge({.threads = 1});
  for (const PixelFormat from : rational_formats) {
    for (int orientation = 0; orientation < 24 / slowness + 4 && !judge.gives_up(); ++orientation) {
      Convert c{.src = random_image(random, 200 + orientation % 3, 61, from)};
      const int outputs = pick(random, 16, 50);
      const Ratio ratio = ratios[pick(random, 0, 2)];
      const double width = static_cast<double>(outputs / 2 * 2) * ratio.samples / ratio.outputs;
      const double height = 10.0 * ratio.samples / ratio.outputs;
      const double part = orientation % 4 == 0 ? 0.5 : 0;
      c.crop = RegionF(pick(random, 0, 199 - static_cast<int>(width)) + part,
                       pick(random, 0, 60 - static_cast<int>(height)), width, height);
      c.dst = random_image(random, outputs / 2 * 2, 10, F::rgba);
      c.antialias = orientation % 2 != 0;
      c.filter = orientation % 5 == 0 ? Filter::box : Filter::bilinear;
      c.flip = orientation % 7 == 0 ? Flip::vertical : Flip::none;
      c.rotation = orientation % 11 == 0 ? Rotation::cw180 : Rotation::none;
      judge.compare(c);
    }
  }
}

TEST(Rational, reads_and_writes_nothing_beside_the_image) {
  Random random(75);
  Judge judge({.threads = 1});
  for (const auto& [from, edge, outputs] :
       product(rational_formats, {Edge::begin, Edge::end}, {16, 31, 32, 64, 65})) {
    Convert c{guarded_image(random, {outputs * 3, 12}, from, DType::u8, edge, true),
              guarded_image(random, {outputs, 4}, F::rgb, DType::u8, edge, false)};
    c.antialias = outputs != 31;
    judge.compare(c);
  }
}

TEST(Rational, gives_the_same_bits_for_any_count_of_threads) {
  Random random(76);
  for (const PixelFormat from : {F::nv12, F::yuyv, F::rgb}) {
    Convert c{.src = random_image(random, 960, 540, from),
              .dst = random_image(random, 320, 320, F::rgb),
              .fit = Fit::letterbox,
              .antialias = true};
    std::vector<std::byte> want;
    for (const unsigned threads : {1U, 2U, 3U, 5U}) {
      Processor processor = Processor::create({.threads = threads}).value();
      ASSERT_TRUE(processor.convert(c));
      if (threads == 1) want = bytes_of(c.dst);
      EXPECT_EQ(bytes_of(c.dst), want) << describe(c) << threads;
    }
  }
}

TEST(Rational, gives_the_same_bits_on_every_instruction_set) {
  Random random(77);
  for (const auto& [from, antialias] : product(rational_formats, {false, true})) {
    const Convert c = scaled(random, from, antialias ? Ratio{3, 2} : Ratio{3, 1}, 100, antialias);
    std::vector<std::byte> want;
    for_each_target([&] {
      Processor processor = Processor::create({.threads = 1}).value();
      ASSERT_TRUE(processor.convert(c));
      if (want.empty()) want = bytes_of(c.dst);
      EXPECT_EQ(bytes_of(c.dst), want) << describe(c);
    });
  }
}

}  // namespace
}  // namespace halyard::test
