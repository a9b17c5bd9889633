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
};

void store_codes(const StoreJob& job);
/// values * scale + bias; 1, 3 or 4 channels. `dtype`: u8, i8, u16, f16, bf16 or f32.
void store_values(const StoreJob& job, DType dtype);

}  // namespace halyard::image
