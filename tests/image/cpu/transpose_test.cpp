// SPDX-License-Identifier: Apache-2.0
// Transposes of tiles of results: every result compared with arithmetic, on every target.
#include "image/cpu/store/transpose.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "each_target.h"
#include "image/cpu/cpu_program.h"
#include "support/product.h"

namespace halyard::test {
namespace {

using image::padded_row;
using image::ResultRows;
using image::transpose_side;

constexpr std::int32_t tile_rows = 64;

template <class T>
std::vector<T> noise(std::mt19937& random, std::size_t count) {
  std::vector<T> samples(count);
  for (T& s : samples)
    s = static_cast<T>(random());
  return samples;
}

// The transposed rows of channels 0 .. channels - 1, of one kind.
template <class T>
void expect_transposed(std::mt19937& random, std::size_t channels, std::int32_t rows) {
  const std::size_t stride = padded_row(transpose_side);
  const std::size_t plane = tile_rows * stride;
  std::vector<T> in = noise<T>(random, channels * plane);
  ResultRows first;
  for (std::size_t c = 0; c < channels; ++c) {
    if constexpr (sizeof(T) == 1) first.codes[c] = &in[c * plane];
    if constexpr (sizeof(T) == 2) first.values[c] = &in[c * plane];
  }
  std::vector<std::byte> memory(image::transpose_workspace_bytes(tile_rows));
  const auto rotated = image::transpose_results(first, stride, rows, tile_rows, memory.data());
  for (const auto [c, x] : grid<std::size_t>(channels, static_cast<std::size_t>(transpose_side))) {
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
      T got{};
      if constexpr (sizeof(T) == 1) got = rotated[x].codes[c][r];
      if constexpr (sizeof(T) == 2) got = rotated[x].values[c][r];
      ASSERT_EQ(got, in[c * plane + r * stride + x])
          << rows << " rows: channel " << c << ", row " << r << ", column " << x;
    }
  }
}

TEST(TransposeResults, codes_and_values_of_every_count_of_rows_change_their_axes) {
  std::mt19937 random(1);
  for_each_target([&] {
    for (std::int32_t rows = 1; rows <= tile_rows; ++rows) {
      const auto channels = static_cast<std::size_t>(1 + rows % 4);
      expect_transposed<std::uint8_t>(random, channels, rows);
      expect_transposed<std::int16_t>(random, channels, rows);
    }
  });
}

}  // namespace
}  // namespace halyard::test
