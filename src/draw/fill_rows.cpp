// SPDX-License-Identifier: Apache-2.0
// Fills with loops of fixed length, which compilers vectorize.
#include "draw/fill_rows.h"

#include <array>
#include <cstring>

namespace halyard::draw {
namespace {

constexpr std::size_t period = 12;  // bytes that hold whole pixels of 1, 3 and 4 bytes
constexpr std::size_t block = 4 * period;

template <std::size_t bytes>
void repeat(std::uint8_t* to, const std::uint8_t* pixel) noexcept {
  for (std::size_t i = 0; i < period; i += bytes)
    std::memcpy(to + i, pixel, bytes);
}

// Whole pixels, repeated. A byte p becomes (p & keep) | value.
struct Pattern {
  std::array<std::uint8_t, block> value{};
  std::array<std::uint8_t, block> keep{};

  // For runs of `count` bytes.
  Pattern(const std::uint8_t* color, std::size_t pixel_bytes, std::size_t count) noexcept {
    if (pixel_bytes == 1) std::memset(value.data(), *color, period);
    if (pixel_bytes == 3) repeat<3>(value.data(), color);
    if (pixel_bytes == 4) {
      const std::uint8_t opaque[] = {color[0], color[1], color[2], 0}, alpha[] = {0, 0, 0, 255};
      repeat<4>(value.data(), opaque);
      repeat<4>(keep.data(), alpha);
    }
    for (std::size_t i = period; i < block && count > period; i += period) {
      std::memcpy(&value[i], value.data(), period);
      std::memcpy(&keep[i], keep.data(), period);
    }
  }
};

void fill_row(std::uint8_t* at, std::size_t count, const Pattern& pattern) noexcept {
  const auto put = [&](std::size_t i) {
    at[i] = static_cast<std::uint8_t>((at[i] & pattern.keep[i]) | pattern.value[i]);
  };
  for (; count >= block; count -= block, at += block) {
    for (std::size_t i = 0; i < block; ++i)
      put(i);
  }
  for (std::size_t i = 0; i < count; ++i)
    put(i);
}

// Rows of `count` bytes: the sides of outlines. The pattern stays in registers.
template <std::size_t count>
void fill_column(const PixelRows& rows, std::size_t height, const Pattern& pattern) noexcept {
  std::array<std::uint8_t, count> value, keep;
  std::memcpy(value.data(), pattern.value.data(), count);
  std::memcpy(keep.data(), pattern.keep.data(), count);
  std::uint8_t* at = rows.data;
  for (; height > 0; --height, at += rows.stride) {
    for (std::size_t i = 0; i < count; ++i)
      at[i] = static_cast<std::uint8_t>((at[i] & keep[i]) | value[i]);
  }
}

}  // namespace

void fill_rows(PixelRows rows, std::size_t width, std::size_t height, const std::uint8_t* color,
               std::size_t pixel_bytes) noexcept {
  const std::size_t count = width * pixel_bytes;
  const Pattern pattern(color, pixel_bytes, count);
  // Two and three pixels of 4 and of 3 bytes.
  if (count == 12) return fill_column<12>(rows, height, pattern);
  if (count == 9) return fill_column<9>(rows, height, pattern);
  if (count == 8) return fill_column<8>(rows, height, pattern);
  if (count == 6) return fill_column<6>(rows, height, pattern);
  const std::uint8_t* const first = rows.data;
  fill_row(rows.data, count, pattern);
  for (; height > 1; --height) {
    rows.data += rows.stride;
    if (pixel_bytes == 4) {
      fill_row(rows.data, count, pattern);
    } else {
      std::memcpy(rows.data, first, count);
    }
  }
}

}  // namespace halyard::draw
