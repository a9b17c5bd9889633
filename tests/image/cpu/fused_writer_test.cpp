// SPDX-License-Identifier: Apache-2.0
// The fused writer on every instruction set of this machine, compared with a ColorConverter and a
// Writer: the same bytes, and no byte written beside the row.
#include "image/cpu/color/fused_writer.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "color_rows.h"
#include "each_target.h"
#include "image/cpu/store/writer.h"
#include "image/images.h"
#include "support/product.h"
#include "writer_target.h"

namespace halyard::image {
namespace {

using F = PixelFormat;
using namespace halyard::test;

constexpr PixelFormat fused_formats[] = {F::rgb, F::bgr, F::rgba, F::bgra, F::planar_rgb};

/// The second row of an image whose content leaves pixels free on both sides.
Plan row_plan(ColorModel from, PixelFormat format, bool keeps_alpha, bool bgr, std::int32_t width) {
  Plan plan = color_plan(from, ColorModel::rgb);
  const Plan to = plan_of(format, DType::u8, {width + 5, 3}, {});
  plan.dst = to.dst;
  plan.content = {3, 1, width, 1};
  plan.color.keeps_alpha = keeps_alpha;
  plan.bgr = bgr;
  return plan;
}

void expect_same_bytes(const Plan& plan, Random& random) {
  const ColorConverter color_converter(plan, 7, true);
  const std::optional<FusedWriter> fused_writer =
      FusedWriter::create(plan, color_converter.setup());
  ASSERT_TRUE(fused_writer);
  const auto width = plan.content.width;
  ColorRows rows(static_cast<std::size_t>(width));
  for (auto& row : rows.in) {
    for (auto& sample : row)
      sample = static_cast<std::int16_t>(pick(random, 0, 255 << 7));
  }
  rows.run(color_converter);
  ResultRows results;
  SampleRows samples;
  samples.end = width;
  for (std::size_t c = 0; c < 4; ++c) {
    results.codes[c] = rows.codes[c].data();
    samples.channel[c] = rows.in[c].data();
  }
  Target wanted(plan, 7);
  Target found(plan, 7);
  make_writer(plan, 7)->store(wanted.frame, {plan.content.x, 1, width, {&results, 1}});
  fused_writer->store(samples, found.frame, 1);
  ASSERT_EQ(wanted.difference(found), "");
}

TEST(FusedWriter, stores_the_bytes_of_the_separate_steps) {
  for_each_target([] {
    Random random(41);
    for (const auto& [from, format] :
         test::product({ColorModel::yuv, ColorModel::rgb}, fused_formats)) {
      const bool alpha = from == ColorModel::rgb && channel_map(format)->count == 4;
      for (std::int32_t width = 1; width < 200; width += width < 140 ? 1 : 13) {
        for (const bool bgr : {false, true}) {
          SCOPED_TRACE(::testing::Message()
                       << to_string(format) << ' ' << width << (bgr ? " bgr" : ""));
          expect_same_bytes(row_plan(from, format, false, bgr, width), random);
          if (alpha) expect_same_bytes(row_plan(from, format, true, bgr, width), random);
        }
      }
    }
  });
}

TEST(FusedWriter, flips_the_sign_of_planes) {
  for_each_target([] {
    Random random(43);
    for (const std::int32_t width : {1, 63, 64, 65, 130}) {
      Plan plan = row_plan(ColorModel::yuv, F::planar_rgb, false, false, width);
      plan.dst.dtype = DType::i8;
      plan.values.kind = ValueMap::Kind::flip_sign;
      expect_same_bytes(plan, random);
    }
  });
}

TEST(FusedWriter, declines_what_needs_the_separate_steps) {
  const auto paints = [](const Plan& plan, int fraction = 7) {
    return FusedWriter::create(plan, ColorConverter(plan, fraction, true).setup()).has_value();
  };
  const Plan plan = row_plan(ColorModel::yuv, F::rgb, false, false, 9);
  EXPECT_TRUE(paints(plan));
  EXPECT_FALSE(paints(plan, 6)) << "samples that overshoot";
  Plan other = plan;
  other.exact = true;
  EXPECT_FALSE(paints(other)) << "floats";
  other = plan;
  other.values.kind = ValueMap::Kind::affine;
  EXPECT_FALSE(paints(other)) << "values";
  other = plan;
  other.orientation.rotation = Rotation::cw90;
  EXPECT_FALSE(paints(other)) << "rotated";
  other = plan;
  other.affine = Affine{};
  EXPECT_FALSE(paints(other)) << "a free map";
  other = row_plan(ColorModel::rgb, F::rgba, true, false, 9);
  EXPECT_TRUE(paints(other));
  other.alpha = AlphaStep::premultiply;
  EXPECT_FALSE(paints(other)) << "colours by alpha";
  EXPECT_FALSE(paints(row_plan(ColorModel::yuv, F::planar_rgba, false, false, 9)));
  EXPECT_FALSE(paints(row_plan(ColorModel::grey, F::rgb, false, false, 9)));
}

}  // namespace
}  // namespace halyard::image
