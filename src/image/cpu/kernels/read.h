// SPDX-License-Identifier: Apache-2.0
// Kernels that turn samples of sources into rows of fixed point: 16-bit samples, and mosaics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// `samples` samples of 8 or 16 bits, each times `scale`, rounded, at most 32767. Reads no byte
/// behind them; writes no sample behind them.
void scale_bytes(const std::uint8_t* in, std::int32_t samples, float scale, std::int16_t* out);
/// To codes with `fraction` fractional bits. What is below the half between two codes stays below
/// it: rounded to codes, samples give the nearest ones.
void scale_u16(const std::byte* in, std::int32_t samples, float scale, int fraction,
               std::int16_t* out);

/// Colours of one row of a mosaic. The three rows point at the sample before the first and have
/// spare samples; none is negative. Means of two are rounded up, of four twice.
struct MosaicRow {
  const std::int16_t* above = nullptr;
  const std::int16_t* here = nullptr;
  const std::int16_t* below = nullptr;
  std::int32_t samples = 0;
  bool green_first = false;  ///< the first sample is green
  std::int16_t* green = nullptr;
  std::int16_t* beside = nullptr;      ///< the colour that is in this row too
  std::int16_t* horizontal = nullptr;  ///< the colour of the rows above and below
};
void demosaic_row(const MosaicRow& job);

}  // namespace halyard::image
