// SPDX-License-Identifier: Apache-2.0
// Kernels: integer-ratio resize of rows of bytes, with small integer weights that repeat.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// How rows of bytes become rows of sums. Sums are 16-bit and come in blocks of eight: 8 / channels
/// outputs of the first channel, then as many of the next (three channels are treated as four). All
/// blocks are made alike, each from bytes `block_bytes` behind those of the one before.
struct RationalTable {
  static constexpr std::size_t max_pairs = 3;
  static constexpr std::size_t max_loads = 4;

  std::int32_t blocks = 0;      ///< a multiple of four per channel
  std::int32_t channels = 1;    ///< of a block: 1, 2 or 4
  std::int32_t pairs = 1;       ///< pairs of taps per sum
  std::int32_t pair_bytes = 0;  ///< from one pair of taps to the next
  std::int32_t block_bytes = 0;
  /// Per pair of taps: for each sum the weights of its two bytes.
  std::array<std::array<std::int8_t, 16>, max_pairs> weights{};
  /// Each block is shuffled from `loads` loads of 16 bytes.
  std::int32_t loads = 1;
  std::array<std::array<std::uint8_t, 16>, max_loads> control{};
  /// For processors that permute 64 bytes: four blocks are made from 1, 2 or 4 windows of 64 bytes,
  /// an equal share of the blocks from each.
  std::int32_t windows = 1;
  std::array<std::uint8_t, 64> index{};
};

/// Bytes from the first one of a row on that the kernels of any processor may read.
std::int32_t rational_reach(const RationalTable& table) noexcept;

/// Makes samples of one row of bytes and one pair of taps: sums times 2^shift, one row for each
/// channel that is not null.
void rational_samples(const RationalTable& table, const std::uint8_t* from, int shift,
                      const std::array<std::int16_t*, 4>& out);

/// Makes one row of samples of several rows of bytes, and what the same rows add to the next one.
/// With v = 2^shift times the sum of `carry` and of the rows times `now`, a sample is 2 v + v *
/// scale / 2^15, or v where the scale is -2^15. No sum leaves [0, 2^15).
struct RationalRows {
  static constexpr std::size_t max_rows = 6;
  std::array<const std::uint8_t*, max_rows> rows{};
  const std::int16_t* now = nullptr;
  const std::int16_t* next = nullptr;
  std::size_t count = 0;
  std::size_t alone = 0;  ///< the first rows, which add nothing to the next row of samples
  int shift = 0;
  std::int16_t scale = 0;
  std::int16_t* carry = nullptr;  ///< one sum for each sum of the blocks, 0 at first
  const std::array<std::int16_t*, 4>* out = nullptr;  ///< one row per channel, or null
};
void rational_rows(const RationalTable& table, const RationalRows& job);

}  // namespace halyard::image
