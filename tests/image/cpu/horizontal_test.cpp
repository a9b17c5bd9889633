// SPDX-License-Identifier: Apache-2.0
// The horizontal pass: every mode gives the same numbers.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "each_target.h"
#include "image/cpu/cpu_program.h"
#include "image/cpu/resample/horizontal.h"

namespace {

using namespace halyard;
using namespace halyard::image;
using halyard::test::for_each_target;

struct Shape {
  std::int32_t samples, outputs;
  Filter filter;
  bool antialias;
};

// Steps below one, integer and fractional steps, steps too large for a window, and rows that are
// shorter than a window.
const Shape shapes[] = {
    {960, 320, Filter::bilinear, false}, {480, 320, Filter::bilinear, false},
    {960, 640, Filter::bilinear, false}, {1001, 300, Filter::bilinear, false},
    {100, 333, Filter::bilinear, false}, {1920, 200, Filter::bilinear, false},
    {960, 320, Filter::bilinear, true},  {500, 333, Filter::bilinear, true},
    {700, 100, Filter::box, true},       {400, 130, Filter::bicubic, false},
    {500, 200, Filter::lanczos3, true},  {127, 64, Filter::bilinear, false},
    {31, 17, Filter::bilinear, false},   {2, 9, Filter::lanczos3, false},
    {640, 213, Filter::nearest, false},
};

HorizontalTable table_of(const Shape& shape) {
  AxisRequest request{.length = static_cast<double>(shape.samples),
                      .highest = shape.samples,
                      .outputs = shape.outputs,
                      .filter = shape.filter,
                      .antialias = shape.antialias};
  return make_horizontal(request, {0, shape.samples});
}

template <class T>
std::vector<T> noise(std::size_t count, unsigned maximum) {
  std::mt19937 random(71);
  std::vector<T> row(count);
  for (T& value : row)
    value = static_cast<T>(random() % (maximum + 1));
  return row;
}

std::vector<std::int16_t> resampled(const HorizontalTable& table,
                                    const std::vector<std::int16_t>& row) {
  std::vector<std::int16_t> out(padded_row(table.outputs));
  resample_row(row.data(), table, out.data());
  out.resize(static_cast<std::size_t>(table.outputs));
  return out;
}

TEST(Horizontal, rows_are_the_same_on_every_instruction_set) {
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(::testing::Message() << shape.samples << " to " << shape.outputs);
    const auto row = noise<std::int16_t>(padded_row(shape.samples), 255U << 6U);
    if (table_of(shape).mode == HorizontalTable::Mode::identity) continue;
    const auto want = resampled(table_of(shape), row);
    for_each_target([&] { EXPECT_EQ(resampled(table_of(shape), row), want); });
  }
}

TEST(Horizontal, rows_of_bytes_are_the_same_on_every_instruction_set) {
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(::testing::Message() << shape.samples << " to " << shape.outputs);
    const auto bytes = noise<std::uint8_t>(static_cast<std::size_t>(shape.samples), 255);
    std::vector<std::int16_t> row(padded_row(shape.samples));
    for (std::size_t i = 0; i < bytes.size(); ++i)
      row[i] = static_cast<std::int16_t>(bytes[i] << 7);
    const auto want = resampled(table_of(shape), row);
    for_each_target([&] {
      const HorizontalTable table = table_of(shape);
      if (!table.takes_bytes()) return;
      std::vector<std::int16_t> out(padded_row(table.outputs));
      resample_bytes(bytes.data(), table, 7, out.data());
      out.resize(want.size());
      EXPECT_EQ(out, want);
    });
  }
}

TEST(Horizontal, permutes_serve_what_fits_their_window) {
  if (!takes_permutes()) GTEST_SKIP() << "this processor has no AVX-512";
  EXPECT_EQ(table_of({960, 640, Filter::bilinear, false}).permute.group, 32U);
  EXPECT_EQ(table_of({960, 320, Filter::bilinear, false}).permute.group, 16U);
  EXPECT_EQ(table_of({960, 320, Filter::bilinear, false}).byte_permute.group, 32U);
  EXPECT_EQ(table_of({960, 320, Filter::bilinear, true}).permute.group, 16U);
  EXPECT_EQ(table_of({1920, 200, Filter::bilinear, false}).permute.group, 0U);
  EXPECT_EQ(table_of({127, 64, Filter::bilinear, false}).byte_permute.group, 0U);
  // Two taps, one of them negative.
  EXPECT_EQ(table_of({2, 9, Filter::lanczos3, false}).permute.group, 0U);
}

}  // namespace
