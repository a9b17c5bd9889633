// SPDX-License-Identifier: Apache-2.0
// Kernels that convert source samples to rows of fixed point, and rows of a Bayer mosaic to
// colours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// Multiplies `samples` bytes by `scale` and rounds; results are at most 32767. Reads and writes
/// nothing behind the last sample.
void scale_bytes(const std::uint8_t* in, std::int32_t samples, float scale, std::int16_t* out);
/// The same for 16-bit samples, to codes with `fraction` fractional bits. A product below the half
/// between two codes gives a result below that half, so that rounding results gives the nearest
/// codes.
void scale_u16(const std::byte* in, std::int32_t samples, float scale, int fraction,
               std::int16_t* out);

/// One row of a Bayer mosaic and the three colours made of it. The three input rows point to the
/// sample before the first one and have spare samples; no sample is negative. A mean of two rounds
/// halves up; a mean of four is a mean of two means, and rounds twice.
struct MosaicRow {
  const std::int16_t* above = nullptr;
  const std::int16_t* here = nullptr;
  const std::int16_t* below = nullptr;
  std::int32_t samples = 0;
  bool green_first = false;  ///< the first sample is green
  std::int16_t* green = nullptr;
  std::int16_t* beside = nullptr;      ///< the colour other than green in this row
  std::int16_t* other_rows = nullptr;  ///< the colour of the rows above and below
};
void demosaic_row(const MosaicRow& job);

}  // namespace halyard::image
