// SPDX-License-Identifier: Apache-2.0
// Affine maps: every sample compared with double precision, and results that must not depend on
// strips or neighbours.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "each_target.h"
#include "guarded.h"
#include "image/cpu/cpu_program.h"
#include "image/cpu/resample/sampler.h"
#include "image/differential.h"
#include "image/reference/reference.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

/// Rows of an affine sampler, in codes.
class AffineRows {
 public:
  explicit AffineRows(const Convert& request)
      : plan_(image::make_plan(request).value()), src_(request.src), dst_(request.dst) {
    channels = reference::channel_count(*src_.format());
    sampler_ = image::make_affine(plan_, channels);
    workspace_ = AlignedWorkspace(sampler_->workspace_bytes());
  }
  image::SampleRows row(int y) {
    const TensorMap src = src_.map(Access::read).value();
    const TensorMap dst = dst_.map(Access::read_write).value();
    sampler_->begin(workspace_.data());
    return sampler_->row(image::map_frame(plan_, src, dst), y, workspace_.data());
  }
  const image::Plan& plan() const { return plan_; }
  double one() const { return 1 << sampler_->fraction(); }
  std::size_t channels = 0;

 private:
  image::Plan plan_;
  Tensor src_;
  Tensor dst_;
  std::unique_ptr<const image::Sampler> sampler_;
  AlignedWorkspace workspace_;
};

Affine rotated(double degrees, double horizontal, double vertical, double x, double y) {
  const double angle = degrees * std::numbers::pi / 180;
  return {{std::cos(angle) * horizontal, -std::sin(angle) * vertical, x,
           std::sin(angle) * horizontal, std::cos(angle) * vertical, y}};
}

/// The samples of a channel that the crop touches, along one axis.
reference::Spot spot_of(double begin, double length, int shift, int held, double place,
                        double scale) {
  const double samples = 1 << shift;
  return {.centre = place / samples,
          .scale = scale / samples,
          .lowest = static_cast<int>(std::floor(begin / samples)),
          .highest = std::min(static_cast<int>(std::ceil((begin + length) / samples)), held)};
}

double code_of(const Convert& c, const RegionF& crop, const reference::Plane& plane, double px,
               double py, bool& open) {
  const auto& m = inverse(*c.affine).m;
  const auto horizontal =
      spot_of(crop.x, crop.width, plane.shift_x, plane.columns, px, std::hypot(m[0], m[1]));
  const auto vertical =
      spot_of(crop.y, crop.height, plane.shift_y, plane.rows, py, std::hypot(m[3], m[4]));
  open = open || rests_on_rounding(horizontal, c.filter, c.antialias) ||
         rests_on_rounding(vertical, c.filter, c.antialias);
  double code = 0;
  for (const reference::Tap& j : taps_at(vertical, c.filter, c.antialias)) {
    for (const reference::Tap& i : taps_at(horizontal, c.filter, c.antialias))
      code += i.weight * j.weight * plane.at(i.sample, j.sample);
  }
  return code;
}

void expect_samples(const Convert& c) {
  SCOPED_TRACE(describe(c));
  AffineRows rows(c);
  const image::Plan& plan = rows.plan();
  const auto planes = reference::read_samples(c.src, c.source_bits);
  const auto& m = inverse(*c.affine).m;
  for (int y = 0; y < plan.content.height; ++y) {
    const image::SampleRows row = rows.row(y);
    for (int x = 0; x < plan.content.width; ++x) {
      const double cx = plan.content.x + x + 0.5;
      const double cy = plan.content.y + y + 0.5;
      const double px = m[0] * cx + m[1] * cy + m[2];
      const double py = m[3] * cx + m[4] * cy + m[5];
      const RegionF& crop = plan.crop;
      const double inside =
          std::min({px - crop.x, py - crop.y, crop.x + crop.width - px, crop.y + crop.height - py});
      if (std::abs(inside) < 1e-9) continue;  // on the border
      ASSERT_EQ(x >= row.begin && x<row.end, inside> 0) << x << ", " << y;
      if (inside < 0) continue;
      for (std::size_t k = 0; k < rows.channels; ++k) {
        bool open = false;
        const double want = code_of(c, crop, planes[k], px, py, open);
        if (open) continue;
        ASSERT_NEAR(row.channel[k][x] / rows.one(), want, 0.02) << k << ": " << x << ", " << y;
      }
    }
  }
}

TEST(AffineSampler, samples_of_every_format_and_filter_are_those_of_double_precision) {
  Random random(1);
  std::vector<std::pair<PixelFormat, DType>> sources;
  for (const PixelFormat format : source_formats)
    sources.emplace_back(format, DType::u8);
  sources.emplace_back(F::grey, DType::u16);
  for (const PixelFormat format : {F::bayer_rggb, F::bayer_bggr, F::bayer_grbg, F::bayer_gbrg}) {
    sources.emplace_back(format, DType::u8);
    sources.emplace_back(format, DType::u16);
  }
  for (const auto& [format, dtype] : sources) {
    for (const auto& [filter, antialias] : product(all_filters, {false, true})) {
      Convert c{
          .src = random_image(random, pick(random, 9, 20), pick(random, 9, 20), format, dtype, 8),
          .dst = random_image(random, 24, 17, F::rgb),
          .place = Region{2, 1, 21, 15}};
      const int x = pick(random, 0, 4);
      c.crop = RegionF{x + 0.25, 1, c.src.size().width - x - 1.5, c.src.size().height - 2.0};
      c.affine = rotated(pick(random, 0, 359), pick(random, 4, 30) / 10.0,
                         pick(random, 4, 30) / 10.0, pick(random, 0, 24), pick(random, 0, 17));
      c.filter = filter;
      c.antialias = antialias;
      if (dtype == DType::u16) c.source_bits = 12;
      if (dtype == DType::u16 && antialias) c.source_bits = 16;
      if (c.source_bits == 12) {  // bits above the significant ones are not part of a sample
        const TensorMap map = c.src.map(Access::read_write).value();
        for (std::size_t i = 1; i < map.plane(0).rows * map.plane(0).stride_bytes; i += 2)
          map.plane(0).writable[i] &= std::byte{0x0F};
      }
      expect_samples(c);
    }
  }
}

TEST(AffineSampler, maps_along_the_axes_give_what_the_separable_way_gives) {
  Random random(2);
  for (const auto& [format, filter, antialias] :
       product({F::rgb, F::nv12, F::yuyv}, all_filters, {false, true})) {
    Convert c{.src = random_image(random, 40, 30, format),
              .dst = random_image(random, 25, 60, F::planar_rgb),
              .filter = filter,
              .antialias = antialias,
              .chroma = Chroma::bilinear};
    Convert free = c;
    free.dst = clone(c.dst);
    free.affine = Affine{{25 / 40.0, 0, 0, 0, 2, 0}};
    Processor processor = Processor::create().value();
    ASSERT_TRUE(processor.convert(c));
    ASSERT_TRUE(processor.convert(free));
    EXPECT_LE(greatest_difference(c.dst, free.dst), 1) << describe(free);
  }
}

TEST(AffineSampler, every_target_gives_the_same_bits) {
  Random random(3);
  for (const auto& [format, filter] :
       product({F::rgb, F::nv12}, {Filter::nearest, Filter::bilinear, Filter::lanczos3})) {
    Convert c{.src = random_image(random, 90, 50, format),
              .dst = random_image(random, 83, 61, F::grey),
              .affine = rotated(33, 1.1, 0.7, 10, -5)};
    c.filter = filter;
    std::vector<std::vector<std::int16_t>> first;
    for_each_target([&] {
      AffineRows rows(c);
      std::vector<std::vector<std::int16_t>> seen;
      for (int y = 0; y < 61; ++y) {
        const image::SampleRows row = rows.row(y);
        for (std::size_t k = 0; k < rows.channels; ++k)
          seen.emplace_back(row.channel[k] + row.begin, row.channel[k] + row.end);
      }
      if (first.empty()) first = seen;
      EXPECT_TRUE(seen == first) << describe(c);
    });
  }
}

TEST(AffineSampler, reads_and_writes_no_byte_beside_the_images) {
  Random random(4);
  for (const auto& [format, filter, edge] :
       product({F::rgb, F::grey, F::nv12}, all_filters, {Edge::begin, Edge::end})) {
    Convert c{.src = guarded_image(random, {21, 13}, format, DType::u8, edge, true),
              .dst = guarded_image(random, {33, 19}, F::rgb, DType::u8, edge, false),
              .affine = rotated(20, 1.5, 1.2, 4, -3)};
    c.filter = filter;
    Judge().compare(c);
  }
}

TEST(AffineSampler, maps_that_show_nothing_or_squeeze_all_into_a_pixel_are_pad_and_mean) {
  Random random(5);
  Convert c{random_image(random, 16, 16, F::grey), random_image(random, 9, 9, F::grey)};
  for (const Affine& map : {Affine{{1, 0, 1e9, 0, 1, 0}}, Affine{{1e-9, 0, -4, 0, 1e-9, 3}},
                            Affine{{1e300, 0, 0, 0, 1e-300, 0}}, Affine{{0, 1, 0, 1, 0, -1e300}}}) {
    c.affine = map;
    Judge().compare(c);
    for (int x = 0; x < 9; ++x)
      EXPECT_EQ(code_at(c.dst, 0, x, 5), 114);
  }
  c.affine = Affine{{1e-6, 0, 4.5 - 8e-6, 0, 1e-6, 4.5 - 8e-6}};
  c.filter = Filter::box;
  c.antialias = true;
  Judge().compare(c);
  double sum = 0;
  for (int i = 0; i < 256; ++i)
    sum += code_at(c.src, 0, i % 16, i / 16);
  EXPECT_NEAR(code_at(c.dst, 0, 4, 4), sum / 256, 0.51);
  EXPECT_EQ(code_at(c.dst, 0, 3, 4), 114);
}

}  // namespace
}  // namespace halyard::test
