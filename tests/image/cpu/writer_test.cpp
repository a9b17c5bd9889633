// SPDX-License-Identifier: Apache-2.0
// Writers on every instruction set of this machine compared with store_value(): the same bits, and
// only the bytes of pixels are written.
#include "image/cpu/store/writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "each_target.h"
#include "image/cpu/store/store_value.h"
#include "image/images.h"
#include "support/product.h"
#include "writer_target.h"

namespace halyard::image {
namespace {

using F = PixelFormat;
using namespace halyard::test;

constexpr DType all_types[] = {DType::u8,  DType::i8,   DType::u16,
                               DType::f16, DType::bf16, DType::f32};

/// Rows of random results, half of them at the ends of the range.
struct Results {
  static constexpr std::size_t stride = 160 + spare_samples;
  std::array<std::array<std::vector<std::uint8_t>, 2>, 4> codes;
  std::array<std::array<std::vector<std::int16_t>, 2>, 4> values;
  std::array<ResultRows, 2> rows;

  Results(Random& random, bool wants_codes, int fraction) {
    for (const auto [c, y] : grid<std::size_t>(4, 2)) {
      const auto value = [&](int maximum) {
        const int kind = pick(random, 0, 7);
        return kind == 0 ? 0 : kind == 1 ? maximum : pick(random, 0, maximum);
      };
      for (std::size_t x = 0; x < stride; ++x) {
        codes[c][y].push_back(static_cast<std::uint8_t>(value(255)));
        values[c][y].push_back(static_cast<std::int16_t>(value(255 << fraction)));
      }
      if (wants_codes) rows[y].codes[c] = codes[c][y].data();
      if (!wants_codes) rows[y].values[c] = values[c][y].data();
    }
  }
};

/// The expected bytes of a piece, from the definition alone.
void store_expected(const Plan& plan, int fraction, const MappedImages& frame, const Piece& piece) {
  for (std::size_t c = 0; c < plan.dst.channels->count; ++c) {
    const TargetChannel& target = frame.target[c];
    const int wide = 1 << target.shift_x;
    const int high = 1 << target.shift_y;
    for (int y = 0; y < static_cast<int>(piece.rows.size()); y += high) {
      for (int x = 0; x < piece.width; x += wide) {
        const int column = (piece.x + x) >> target.shift_x;
        if (column >= target.columns) continue;
        double sum = 0;
        int count = 0;
        for (int j = y; j < std::min<int>(y + high, static_cast<int>(piece.rows.size())); ++j) {
          for (int i = x; i < std::min(x + wide, piece.width); ++i, ++count) {
            const ResultRows& row = piece.rows[static_cast<std::size_t>(j)];
            sum +=
                row.codes[c] != nullptr ? row.codes[c][i] : std::ldexp(row.values[c][i], -fraction);
          }
        }
        store_value(plan.values, plan.dst.dtype, c, static_cast<float>(sum / count),
                    target.row((piece.y + y) >> target.shift_y) +
                        static_cast<std::size_t>(column) * target.step_bytes);
      }
    }
  }
  // The last pair of a packed row is complete: an odd width repeats the luma.
  const TargetChannel& luma = frame.target[0];
  if (info(plan.dst.format).chroma_shift_x == 1 && luma.step_bytes == 2 && piece.width % 2 != 0) {
    std::byte* last = luma.row(piece.y) + 2 * (piece.x + piece.width - 1);
    last[2] = last[0];
  }
}

const Results& results_of(bool wants_codes, int fraction) {
  static Random random(1);
  static const Results codes(random, true, 6);
  static const Results coarse(random, false, 6);
  static const Results fine(random, false, 7);
  return wants_codes ? codes : fraction == 6 ? coarse : fine;
}

/// One piece at (x, y), which is also the end of the image.
void expect_stored(const Plan& plan, int fraction, int x, int y) {
  const std::unique_ptr<const Writer> writer = make_writer(plan, fraction);
  const Results& results = results_of(writer->wants_codes(), fraction);
  const std::size_t extra = static_cast<std::size_t>(x) * size_of(plan.dst.dtype);
  const auto rows = static_cast<std::size_t>(plan.dst.size.height - y);
  const Piece piece{x, y, plan.dst.size.width - x, {results.rows.data(), rows}};
  Target expected(plan, extra);
  store_expected(plan, fraction, expected.frame, piece);
  Target actual(plan, extra);
  writer->store(actual.frame, piece);
  ASSERT_EQ(expected.difference(actual), "")
      << to_string(plan.dst.format) << ' ' << to_string(plan.dst.dtype) << " width " << piece.width
      << " rows " << rows << (plan.bgr ? " bgr" : "");
}

ValueMap affine(std::array<float, 4> scale, std::array<float, 4> bias) {
  return {ValueMap::Kind::affine, scale, bias};
}

constexpr PixelFormat full_formats[] = {F::rgb,  F::bgr,        F::rgba,       F::bgra,
                                        F::grey, F::planar_rgb, F::planar_rgba};

TEST(Writer, stores_codes_at_every_width) {
  for_each_target([] {
    for (const PixelFormat format : full_formats) {
      for (int width = 1; width <= 65; ++width) {
        for (const auto kind : {ValueMap::Kind::identity, ValueMap::Kind::flip_sign}) {
          const DType dtype = kind == ValueMap::Kind::identity ? DType::u8 : DType::i8;
          Plan plan = plan_of(format, dtype, {width + 3, 2}, {kind});
          plan.bgr = info(format).model == ColorModel::rgb && width % 2 == 0;
          expect_stored(plan, 6, 3, 1);
        }
      }
    }
    for (int width = 1; width <= 65; ++width)
      expect_stored(plan_of(F::nv24, DType::u8, {width, 1}, {}), 6, 0, 0);
  });
}

TEST(Writer, stores_values_at_every_width_in_every_type) {
  const ValueMap maps[] = {affine({1 / 255.0F, 0.017F, 1, 257}, {0, -2.1179F, -128, 0}),
                           affine({0.9F, -1.5F, 3, 1e-6F}, {0.5F, 140, -300, 1e-7F})};
  for_each_target([&] {
    for (const auto& [format, dtype] : test::product(full_formats, all_types)) {
      for (int width = 1; width <= 65; ++width) {
        Plan plan = plan_of(format, dtype, {width + 2, 2}, maps[width % 2]);
        plan.bgr = info(format).model == ColorModel::rgb && width % 3 == 0;
        expect_stored(plan, 6 + width % 2, 2, 1);
      }
    }
  });
}

TEST(Writer, stores_the_ends_of_every_type_as_the_definition_says) {
  const float infinity = std::numeric_limits<float>::max();
  const ValueMap maps[] = {
      affine({infinity, -infinity, 257, -257}, {0, 0, 1, 1}),  // infinite, and beyond f16
      affine({256.9F, 257.0F, -256.94F, 1e30F}, {0, -15, 0, 0}),
      affine({2.4e-7F, 6e-8F, -1.1e-6F, 1e-9F}, {0, 0, 1e-8F, -0.0F}),  // subnormal f16
      affine({1e-38F, 1e-40F, 1e-36F, 0}, {0, 0, 0, -0.0F}),            // beyond the fixed point
      affine({0.5F, 0.25F, 1, 0.5F}, {0, 0.5F, -128.5F, -64}),          // ties
      affine({2, -3, 128, 250}, {-200, 400, -32768, 1785})};            // clamped 16 bits
  for_each_target([&] {
    for (const auto& [map, dtype] : test::product(maps, all_types)) {
      expect_stored(plan_of(F::planar_rgba, dtype, {150, 1}, map), 6, 0, 0);
      expect_stored(plan_of(F::rgba, dtype, {150, 1}, map), 7, 0, 0);
    }
  });
}

TEST(Writer, stores_the_mean_chroma_of_blocks_at_every_width) {
  constexpr PixelFormat formats[] = {F::nv12, F::nv21, F::nv16, F::i420,
                                     F::yuyv, F::uyvy, F::vyuy, F::yvyu};
  for_each_target([&] {
    for (const PixelFormat format : formats) {
      for (int width = 1; width <= 65; ++width) {
        const int block = 1 << info(format).chroma_shift_y;
        for (int rows = 1; rows <= block; ++rows)
          expect_stored(plan_of(format, DType::u8, {width + 2, 2 + rows}, {}), 6 + width % 2, 2, 2);
      }
    }
  });
}

TEST(Writer, stores_yuv_that_is_quantized) {
  const ValueMap map = affine({0.7F, 0.7F, 0.7F, 0.7F}, {3, 3, 3, 3});
  for (const PixelFormat format : {F::nv12, F::nv24, F::uyvy})
    expect_stored(plan_of(format, DType::u8, {8, 3}, map), 6, 0, 2);
}

}  // namespace
}  // namespace halyard::image
