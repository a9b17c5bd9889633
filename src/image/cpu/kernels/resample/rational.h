// SPDX-License-Identifier: Apache-2.0
// Kernels that filter rows of bytes with small whole weights that recur.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// How the bytes of a row make rows of sums. Sums come in blocks of eight of 16 bits: 8 / channels
/// outputs of the first channel, then as many of the next (of three channels a fourth is made up).
/// All blocks are made alike, from bytes `block_bytes` further on each.
struct RationalTable {
  static constexpr std::size_t max_pairs = 3;
  static constexpr std::size_t max_loads = 4;

  std::int32_t blocks = 0;      ///< a multiple of four per channel
  std::int32_t channels = 1;    ///< in a block: 1, 2 or 4
  std::int32_t pairs = 1;       ///< of taps
  std::int32_t pair_bytes = 0;  ///< from one pair of taps to the next
  std::int32_t block_bytes = 0;
  /// Both bytes of a pair of taps per sum.
  std::array<std::array<std::int8_t, 16>, max_pairs> weights{};
  /// Blocks are shuffled from `loads` times 16 bytes.
  std::int32_t loads = 1;
  std::array<std::array<std::uint8_t, 16>, max_loads> control{};
  /// Processors that permute 64 bytes: four blocks from 1, 2 or 4 windows of so many, each of which
  /// makes as many of the blocks.
  std::int32_t windows = 1;
  std::array<std::uint8_t, 64> index{};
};

/// Bytes behind the first one of a row that the kernels of any processor may read.
std::int32_t rational_reach(const RationalTable& table) noexcept;

/// One row of bytes, one pair of taps, times 2^shift: a row for each channel that is not null.
void rational_samples(const RationalTable& table, const std::uint8_t* from, int shift,
                      const std::array<std::int16_t*, 4>& out);

/// Rows of bytes to one row of samples and to what the same rows add to the next one. With v =
/// 2^shift times the sum of `carry` and of the rows times `now`, a sample is 2 v + v * scale /
/// 2^15, or, where the scale is -1, v. No sum leaves [0, 2^15).
struct RationalRows {
  static constexpr std::size_t max_rows = 6;
  std::array<const std::uint8_t*, max_rows> rows{};
  const std::int16_t* now = nullptr;
  const std::int16_t* next = nullptr;
  std::size_t count = 0;
  std::size_t alone = 0;  ///< rows before this one add nothing to the next sample
  int shift = 0;
  std::int16_t scale = 0;
  std::int16_t* carry = nullptr;                      ///< a sum for each of the blocks', 0 at first
  const std::array<std::int16_t*, 4>* out = nullptr;  ///< a row per channel, or null
};
void rational_rows(const RationalTable& table, const RationalRows& job);

}  // namespace halyard::image
