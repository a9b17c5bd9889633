// SPDX-License-Identifier: Apache-2.0
// Stores rows of results, compiled for every instruction set and chosen at run time; all of them
// give the same bits, those of store_value().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "halyard/format.h"

namespace halyard::image {

/// One row of results to the channels that lie interleaved in one row of memory. Rows of results
/// have spare samples; nothing behind the `width` pixels is written.
struct StoreJob {
  std::int32_t width = 0;
  std::size_t channels = 1;  ///< 1..4, in the order of memory
  std::byte* out = nullptr;
  std::array<const std::uint8_t*, 4> codes{};
  std::array<std::uint8_t, 4> flip{};  ///< codes are stored xor this
  std::array<const std::int16_t*, 4> values{};
  std::array<float, 4> scale{};  ///< of values as integers, the fixed point's unit in it
  std::array<float, 4> bias{};
  bool narrow = false;  ///< integers: no result is outside int16_t, or uint16_t for u16
};

void store_codes(const StoreJob& job);
/// values * scale + bias; 1, 3 or 4 channels. `dtype`: u8, i8, u16, f16, bf16 or f32.
void store_values(const StoreJob& job, DType dtype);

/// One row of values to the nearest codes, halves up. `fraction`: of the values, at most 7.
void store_luma(const std::int16_t* values, int fraction, std::int32_t width, std::byte* out);

/// The mean chroma, halves up, of blocks that are two columns wide, the last one where the width
/// is odd one column; `rows` of a block's values per channel, twice the same where it has one row.
struct BlockJob {
  std::int32_t width = 0;  ///< in pixels
  int fraction = 0;        ///< of all values, at most 7
  std::array<std::array<const std::int16_t*, 2>, 2> rows{};
  std::byte* out = nullptr;
};
/// The first channel alone, one byte per block.
void store_chroma(const BlockJob& job);
/// Both channels in turn.
void store_chroma_pairs(const BlockJob& job);
/// Four bytes per block: luma at byte `luma` and two behind it, the channels at the bytes `chroma`.
/// The last block of an odd width repeats its luma.
void store_packed(const BlockJob& job, const std::int16_t* luma, int luma_at,
                  std::array<int, 2> chroma_at);

}  // namespace halyard::image
