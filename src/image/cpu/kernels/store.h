// SPDX-License-Identifier: Apache-2.0
// Kernels: store rows of results. Compiled for every instruction set and chosen at run time; all of
// them give the same bits, those of store_value().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "halyard/format.h"

namespace halyard::image {

/// One row of results for the channels that are interleaved in one row of memory. Rows of results
/// have spare samples; nothing behind the `width` pixels is written.
struct StoreJob {
  std::int32_t width = 0;
  std::size_t channels = 1;  ///< 1..4, in the order of memory
  std::byte* out = nullptr;
  std::array<const std::uint8_t*, 4> codes{};
  std::array<std::uint8_t, 4> flip{};  ///< every code is xor-ed with this
  std::array<const std::int16_t*, 4> values{};
  std::array<float, 4> scale{};  ///< of values as integers; includes the unit of their fixed point
  std::array<float, 4> bias{};
  bool narrow = false;  ///< integers: all results fit int16_t, or uint16_t for u16
};

void store_codes(const StoreJob& job);
/// Stores values * scale + bias; 1, 3 or 4 channels. `dtype`: u8, i8, u16, f16, bf16 or f32.
void store_values(const StoreJob& job, DType dtype);

/// Stores one row of values as the nearest codes, halves up. `fraction`: fractional bits of the
/// values, at most 7.
void store_luma(const std::int16_t* values, int fraction, std::int32_t width, std::byte* out);

/// Chroma of blocks of two columns: the mean, halves up. Where the width is odd, the last block has
/// one column. `rows`: per channel the two rows of values of a block; the same row twice for a
/// block of one row.
struct BlockJob {
  std::int32_t width = 0;  ///< in pixels
  int fraction = 0;        ///< fractional bits of all values, at most 7
  std::array<std::array<const std::int16_t*, 2>, 2> rows{};
  std::byte* out = nullptr;
};
/// Stores the first channel only, one byte per block.
void store_chroma(const BlockJob& job);
/// Stores both channels, two bytes per block.
void store_chroma_pairs(const BlockJob& job);
/// Stores four bytes per block: luma at bytes `luma_at` and `luma_at` + 2, the channels at the
/// bytes `chroma_at`. The last block of an odd width repeats its luma.
void store_packed(const BlockJob& job, const std::int16_t* luma, int luma_at,
                  std::array<int, 2> chroma_at);

}  // namespace halyard::image
