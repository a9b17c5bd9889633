// SPDX-License-Identifier: Apache-2.0
// Pad around the kept pixels, byte for byte, in every format.
#include <gtest/gtest.h>

#include "each_target.h"
#include "image/cpu/kernels/fill.h"
#include "image/cpu/store/pad.h"
#include "image/cpu/store/store_value.h"
#include "support/product.h"
#include "writer_target.h"

namespace halyard::image {
namespace {

using F = PixelFormat;
using namespace halyard::test;

constexpr PixelFormat all_formats[] = {
    F::yuyv,        F::nv12, F::nv16, F::rgba, F::rgb,  F::grey, F::bgr,  F::planar_rgb,
    F::planar_rgba, F::bgra, F::vyuy, F::nv24, F::uyvy, F::yvyu, F::nv21, F::i420};

bool has(const Region& r, int x, int y) {
  return x >= r.x && x < r.x + r.width && y >= r.y && y < r.y + r.height;
}

/// The expected pad, sample by sample, from the definition.
void pad_expected(const Plan& plan, const Region& kept, const MappedImages& frame) {
  for (std::size_t c = 0; c < plan.dst.channels->count; ++c) {
    const TargetChannel& to = frame.target[c];
    // The last pair of a packed YUV row is complete: its second luma is written too.
    const bool paired = to.step_bytes == 2 && info(plan.dst.format).chroma_shift_x == 1 && c == 0 &&
                        frame.target[1].step_bytes == 4;
    const int columns = paired ? (to.columns + 1) / 2 * 2 : to.columns;
    for (const auto [y, x] : grid(to.rows, columns)) {
      const int left = std::min(x << to.shift_x, plan.dst.size.width - 1);
      if (has(kept, left, y << to.shift_y)) continue;
      store_value(plan.values, plan.dst.dtype, c, static_cast<float>(plan.pad[c]),
                  to.row(y) + static_cast<std::size_t>(x) * to.step_bytes);
    }
  }
}

void expect_padded(const Plan& plan, const Region& kept, std::size_t extra) {
  Target expected(plan, extra);
  pad_expected(plan, kept, expected.frame);
  Target actual(plan, extra);
  const PadWriter pad(plan, kept);
  const int height = plan.dst.size.height;
  const int cut = height / 4 * 2;  // in two strips
  pad.fill(actual.frame, cut, height);
  pad.fill(actual.frame, 0, cut);
  ASSERT_EQ(expected.difference(actual), "")
      << to_string(plan.dst.format) << ' ' << to_string(plan.dst.dtype) << ' '
      << plan.dst.size.width << 'x' << height << " kept " << kept.x << ',' << kept.y << ' '
      << kept.width << 'x' << kept.height;
}

/// Each side alone, all sides, and nothing kept; sizes of whole blocks, or up to the odd end.
void expect_padded_everywhere(const Plan& plan, std::size_t extra) {
  const auto [w, h] = plan.dst.size;
  expect_padded(plan, {0, 2, w, h - 2}, extra);
  expect_padded(plan, {0, 0, w, h - 1 - h % 2}, extra);
  expect_padded(plan, {2, 0, w - 2, h}, extra);
  expect_padded(plan, {0, 0, w / 4 * 2, h}, extra);
  expect_padded(plan, {4, 2, 2, 2}, extra);
  expect_padded(plan, {0, 0, 0, 0}, extra);
  expect_padded(plan, {0, 0, w, h}, extra);
}

TEST(PadWriter, fills_what_is_not_kept_in_every_format) {
  for (const auto& [format, size] : test::product(all_formats, {Size{9, 7}, Size{1030, 6}})) {
    for (const std::size_t extra : {0, 12}) {
      Plan plan = plan_of(format, DType::u8, size, {});
      plan.pad = {10, 200, 77, 255};
      expect_padded_everywhere(plan, extra);
      plan.pad = {114, 114, 114, 114};
      expect_padded_everywhere(plan, extra);
    }
  }
}

TEST(PadWriter, fills_with_values_of_every_type) {
  const ValueMap values{ValueMap::Kind::affine, {0.1F, 0.2F, 0.3F, 1}, {-1, 0, 1, 0}};
  for (const auto& [format, dtype, bgr] :
       test::product({F::rgb, F::bgra, F::planar_rgb},
                     {DType::u8, DType::i8, DType::u16, DType::f16, DType::bf16, DType::f32},
                     {false, true})) {
    Plan plan = plan_of(format, dtype, {213, 4}, values);
    plan.pad = {10, 200, 77, 255};
    plan.bgr = bgr;
    expect_padded_everywhere(plan, 0);
    expect_padded_everywhere(plan, 4);
  }
}

TEST(FillPattern, repeats_every_period_over_every_count_of_bytes) {
  for_each_target([] {
    for (const std::size_t period : {1, 2, 3, 4, 6, 8, 12, 16}) {
      std::array<std::byte, pattern_bytes> pattern;
      for (std::size_t i = 0; i < pattern_bytes; ++i)
        pattern[i] = static_cast<std::byte>(i % period + 1);
      for (std::size_t bytes = 0; bytes < 500; bytes += period) {
        std::vector<std::byte> expected(bytes + 130, std::byte{0xEE});
        std::vector<std::byte> actual = expected;
        for (std::size_t i = 0; i < bytes; ++i)
          expected[65 + i] = static_cast<std::byte>(i % period + 1);
        fill_pattern(pattern.data(), &actual[65], bytes);
        ASSERT_EQ(expected, actual) << bytes << " bytes of period " << period;
      }
    }
  });
}

}  // namespace
}  // namespace halyard::image
