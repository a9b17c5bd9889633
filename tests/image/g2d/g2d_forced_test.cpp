// SPDX-License-Identifier: Apache-2.0
// The G2D backend where it is asked for by name: scaling and YUV too. The fake library computes in
// double precision, so these tests hold rectangles, planes and matrices to the reference, not the
// rounding of a device.
#include <gtest/gtest.h>

#include "image/differential.h"
#include "image/g2d/device.h"
#include "image/images.h"
#include "image/requests.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

constexpr Size forced_frame{48, 32};

class G2dForced : public testing::TestWithParam<const char*> {
 protected:
  Convert request(F from, F to, Size source = forced_frame, Size target = {36, 40}) {
    return {.src = machine_.image(random_, source, from),
            .dst = machine_.image(random_, target, to)};
  }
  void expect_served(const Convert& c) {
    EXPECT_TRUE(judge_.compare(c)) << judge_.processor().explain(c).value();
    EXPECT_EQ(machine_.fake().take_violations(), "") << describe(c);
  }
  void expect_declined(const Convert& c, const char* reason) {
    const int blits = machine_.counts().blits;
    const auto before = bytes_of(c.dst);
    EXPECT_FAILS(judge_.processor().convert(c), Errc::unsupported, std::string("g2d: ") + reason);
    EXPECT_EQ(machine_.counts().blits, blits);
    EXPECT_EQ(bytes_of(c.dst), before);
  }

  G2dMachine machine_{GetParam()};
  Variable forced_{"HALYARD_FORCE_BACKEND", "g2d"};
  Random random_{92};
  Judge judge_;
};
INSTANTIATE_TEST_SUITE_P(layouts, G2dForced, testing::Values("int", "long"),
                         [](const auto& name) { return std::string(name.param); });

const std::vector<F> forced_sources{F::rgba, F::bgra, F::nv12, F::yuyv};
const std::vector<F> forced_targets{F::rgba, F::bgra, F::rgb, F::yuyv};

TEST_P(G2dForced, every_pair_is_scaled_in_every_orientation_and_fit) {
  for (const auto& [from, to] : product(forced_sources, forced_targets)) {
    for (const auto& [rotation, flip] :
         product({Rotation::none, Rotation::cw90, Rotation::cw180, Rotation::cw270},
                 {Flip::none, Flip::horizontal, Flip::vertical})) {
      Convert c = request(from, to);
      c.rotation = rotation;
      c.flip = flip;
      c.crop = Region{6, 4, 38, 22};
      expect_served(c);
      c.place = Region{4, 6, 30, 28};
      expect_served(c);
    }
  }
}

TEST_P(G2dForced, letterboxes_have_their_bands) {
  for (const auto& [from, to] : product(forced_sources, forced_targets)) {
    for (const Size target : {Size{60, 72}, Size{72, 32}}) {
      Convert c = request(from, to, {60, 40}, target);
      c.fit = Fit::letterbox;
      c.pad = {10, 120, 230, 99};
      expect_served(c);
      if (HasFailure()) return;
    }
  }
}

TEST_P(G2dForced, colours_have_the_images_matrix_and_range) {
  for (const auto& [encoding, range] :
       product({ColorEncoding::bt601, ColorEncoding::bt709, ColorEncoding::unknown},
               {ColorRange::limited, ColorRange::full, ColorRange::unknown})) {
    for (const auto& [from, to] :
         {std::pair(F::nv12, F::rgba), {F::yuyv, F::rgb}, {F::bgra, F::yuyv}, {F::nv12, F::yuyv}}) {
      Convert c = request(from, to, forced_frame, forced_frame);
      c.src.set_colorimetry({.encoding = encoding, .range = range});
      c.dst.set_colorimetry({.encoding = encoding, .range = range});
      expect_served(c);
    }
  }
}

TEST_P(G2dForced, matrices_that_it_lacks_are_declined) {
  machine_.fake().faults().lacks_full_range = true;
  judge_.processor() = Processor::create().value();
  const auto with_colours = [&](F from, F to, Colorimetry in, Colorimetry out) {
    Convert c = request(from, to);
    c.src.set_colorimetry(in);
    c.dst.set_colorimetry(out);
    return c;
  };
  const Colorimetry full = Colorimetry::jpeg();
  const Colorimetry limited{.encoding = ColorEncoding::bt601, .range = ColorRange::limited};
  const Colorimetry wide{.encoding = ColorEncoding::bt2020, .range = ColorRange::limited};
  expect_declined(with_colours(F::nv12, F::rgb, full, {}), "this device has no full-range matrix");
  expect_declined(with_colours(F::rgba, F::yuyv, {}, full), "this device has no full-range matrix");
  expect_declined(with_colours(F::nv12, F::rgb, wide, {}), "has matrices of BT.601 and BT.709");
  expect_declined(with_colours(F::nv12, F::yuyv, limited, full), "does not convert from one YUV");
  expect_served(with_colours(F::nv12, F::rgb, limited, full));
}

TEST_P(G2dForced, other_filters_and_odd_images_are_declined) {
  Convert c = request(F::rgba, F::rgba);
  c.filter = Filter::nearest;
  expect_declined(c, "scales by its bilinear filter only");
  c.filter = Filter::bilinear;
  c.antialias = true;
  expect_declined(c, "scales by its bilinear filter only");
  c = request(F::nv12, F::rgba, forced_frame, forced_frame);
  c.chroma = Chroma::bilinear;
  expect_declined(c, "does not interpolate chroma");
  expect_declined(request(F::nv12, F::rgba, {47, 32}), "the subsampled source has an odd size");
  expect_declined(request(F::nv12, F::rgba, {48, 31}), "the subsampled source has an odd size");
  expect_declined(request(F::rgba, F::yuyv, forced_frame, {35, 40}),
                  "the subsampled destination has");
  c = request(F::yuyv, F::rgba);
  c.crop = Region{1, 0, 20, 20};
  expect_declined(c, "the subsampled source has an odd size or crop");
  judge_.processor().set_colorimetry_mode(ColorimetryMode::exact);
  expect_declined(request(F::nv12, F::rgba, forced_frame, forced_frame), "scales and converts YUV");
  expect_declined(request(F::rgba, F::rgba), "scales and converts YUV");
  expect_served(request(F::rgba, F::bgra, forced_frame, forced_frame));
}

TEST_P(G2dForced, memory_that_it_does_not_reach_is_declined) {
  Convert c = request(F::nv12, F::rgb);
  c.src = clone(c.src);
  expect_declined(c, "the source is not in a DMA-BUF");
  EXPECT_FAILS(judge_.processor().plan(c), Errc::unsupported, "not in a DMA-BUF");
  EXPECT_FAILS(judge_.processor().convert_deferred(c), Errc::unsupported, "not in a DMA-BUF");
  EXPECT_FAILS(judge_.processor().convert_all({&c, 1}), Errc::unsupported, "request 0");
  c = request(F::nv12, F::rgb);
  c.dst = zero_image(c.dst.size(), F::rgb);
  expect_declined(c, "the destination is not in a DMA-BUF");
}

TEST_P(G2dForced, chroma_lies_in_a_buffer_of_its_own_or_anywhere) {
  const auto planes = [&](std::size_t stride, std::size_t chroma_stride, std::size_t offset) {
    const Tensor::PlaneSource both[] = {
        {machine_.buffer(stride * 32), 0, stride, 0},
        {machine_.buffer(offset + chroma_stride * 16), offset, chroma_stride, 0}};
    fill_random(random_, *both[0].buffer, DType::u8);
    fill_random(random_, *both[1].buffer, DType::u8);
    return Tensor::wrap_image(both, 48, 32, F::nv12).value();
  };
  Convert c = request(F::nv12, F::rgb);
  c.src = planes(64, 64, 128);
  expect_served(c);
  c.src = planes(64, 128, 0);
  expect_declined(c, "the source's chroma has another pitch");
  c.src = planes(64, 64, 16);
  expect_declined(c, "the source's chroma has another pitch or alignment");
}

TEST_P(G2dForced, parts_of_subsampled_images_are_read) {
  const Tensor whole = machine_.image(random_, {160, 80}, F::nv12);
  const Tensor packed = machine_.image(random_, {160, 80}, F::yuyv);
  for (int x = 0; x < 40; x += 2) {
    Convert c = request(F::nv12, F::rgb, forced_frame, {40, 24});
    c.src = whole.slice({x, x, 42, 26}).value();
    expect_served(c);
    c.src = packed.slice({x, x, 42, 26}).value();
    c.crop = Region{x / 2 * 2 % 8, 2, 30, 20};
    expect_served(c);
  }
}

/// Random values, with the formats and steps that G2D may serve in most cases.
std::vector<int> likely_values(Random& random) {
  std::vector<int> values;
  for (const int levels : factor_levels())
    values.push_back(pick(random, 0, levels - 1));
  constexpr int source_numbers[] = {0, 1, 3, 8};   // yuyv, nv12, rgba, bgra
  constexpr int target_numbers[] = {0, 1, 3, 12};  // rgb, rgba, bgra, yuyv
  values[f_source] = source_numbers[pick(random, 0, 3)];
  values[f_target] = target_numbers[pick(random, 0, 3)];
  for (const Factor plain : {f_depth, f_dtype, f_alpha, f_numbers, f_mode})
    values[plain] = 0;
  if (pick(random, 0, 3) != 0) {
    values[f_filter] = static_cast<int>(Filter::bilinear);
    values[f_antialias] = values[f_chroma] = values[f_bgr] = 0;
    values[f_crop] = pick(random, 0, 3) == 0 ? 1 : 0;
    constexpr int even_widths[] = {7, 11, 14, 16};  // 16, 32, 48, 64
    values[f_width] = even_widths[pick(random, 0, 3)];
    values[f_height] = pick(random, 2, 4) * 2 - 1;  // 4, 6, 8 or seven times that
    values[f_size] = pick(random, 0, 1);
    values[f_fit] = static_cast<int>(pick(random, 0, 1) == 0 ? Fit::stretch : Fit::letterbox);
  }
  return values;
}

TEST(G2dConformance, what_is_accepted_is_right_and_all_else_is_left_or_declined) {
  G2dMachine machine("long");
  Random random(93);
  Judge automatic;
  std::optional<Judge> forced;
  {
    const Variable force("HALYARD_FORCE_BACKEND", "g2d");
    forced.emplace();
  }
  int exact = 0;
  for (int i = 0; i < 3000 / slowness && !automatic.gives_up() && !forced->gives_up(); ++i) {
    std::vector<int> values = likely_values(random);
    if (!make_legal(values, std::vector<bool>(values.size(), false))) continue;
    Convert c = build_request(values, random);
    if (c.src.dtype() != DType::u8 || c.dst.dtype() != DType::u8) continue;
    c.src = machine.copy_of(c.src);
    c.dst = machine.copy_of(c.dst);
    const int before = machine.counts().blits;
    automatic.compare(c);
    exact += machine.counts().blits - before;
    forced->compare(c);
    ASSERT_EQ(machine.fake().take_violations(), "") << describe(c);
  }
  EXPECT_EQ(automatic.unserved(), 0);
  EXPECT_GT(exact, 100 / slowness);
  EXPECT_GT(forced->served(), 600 / slowness);
  EXPECT_GT(forced->unserved(), 150 / slowness);
  RecordProperty("exact", exact);
  RecordProperty("forced", forced->served());
}

}  // namespace
}  // namespace halyard::test
