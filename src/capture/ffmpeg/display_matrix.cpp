// SPDX-License-Identifier: Apache-2.0
// Converts display matrices. A matrix maps x' = a x + c y + tx, y' = b x + d y + ty, in 16.16 fixed
// point; y points down.
#include "capture/ffmpeg/display_matrix.h"

#ifdef HALYARD_HAVE_FFMPEG

#include <cstring>

namespace halyard::capture {
namespace {

constexpr std::int32_t one = 1 << 16;

/// The signs of a, b, c, d, and their orientation.
struct Row {
  std::array<int, 4> signs;
  Orientation orientation;
};
constexpr Row orientation_rows[] = {
    {{1, 0, 0, 1}, {Flip::none, Rotation::none}},
    {{0, 1, -1, 0}, {Flip::none, Rotation::cw90}},
    {{-1, 0, 0, -1}, {Flip::none, Rotation::cw180}},
    {{0, -1, 1, 0}, {Flip::none, Rotation::cw270}},
    {{-1, 0, 0, 1}, {Flip::horizontal, Rotation::none}},
    {{1, 0, 0, -1}, {Flip::vertical, Rotation::none}},
    {{0, 1, 1, 0}, {Flip::vertical, Rotation::cw90}},
    {{0, -1, -1, 0}, {Flip::horizontal, Rotation::cw90}},
    // Other matrices of the same orientations.
    {{1, 0, 0, -1}, {Flip::horizontal, Rotation::cw180}},
    {{-1, 0, 0, 1}, {Flip::vertical, Rotation::cw180}},
    {{0, 1, 1, 0}, {Flip::horizontal, Rotation::cw270}},
    {{0, -1, -1, 0}, {Flip::vertical, Rotation::cw270}},
};

// Fixed-point values have errors in their last bits.
int sign(std::int32_t value) noexcept {
  constexpr std::int32_t almost_zero = one / 64;
  return (value > almost_zero ? 1 : 0) - (value < -almost_zero ? 1 : 0);
}

}  // namespace

Orientation orientation_of_matrix(std::span<const std::uint8_t> bytes) noexcept {
  std::array<std::int32_t, 9> matrix{};
  if (bytes.size() < sizeof matrix) return {};
  std::memcpy(matrix.data(), bytes.data(), sizeof matrix);
  const std::array<int, 4> signs{sign(matrix[0]), sign(matrix[1]), sign(matrix[3]),
                                 sign(matrix[4])};
  for (const Row& row : orientation_rows)
    if (row.signs == signs) return row.orientation;
  return {};
}

std::array<std::int32_t, 9> matrix_of(Orientation orientation, Size stored) noexcept {
  const Row* found = orientation_rows;
  for (const Row& row : orientation_rows)
    if (row.orientation == orientation) found = &row;
  const auto& [a, b, c, d] = found->signs;
  const std::int32_t left = (a < 0 ? stored.width : 0) + (c < 0 ? stored.height : 0);
  const std::int32_t top = (b < 0 ? stored.width : 0) + (d < 0 ? stored.height : 0);
  return {a * one, b * one, 0, c * one, d * one, 0, left * one, top * one, one << 14};
}

}  // namespace halyard::capture

#endif
