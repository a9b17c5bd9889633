// SPDX-License-Identifier: Apache-2.0
// Kernel: converts rows of samples to RGB bytes of the destination in one step. The bytes are those
// of change_colors() followed by store_codes(). Compiled for every instruction set and chosen at
// run time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "image/cpu/kernels/color/color.h"

namespace halyard::image {

/// Samples have 7 fractional bits (8.7); none is negative.
struct FusedWriteSetup {
  enum class Store : std::uint8_t { packed3, packed4, planes };
  Store store{};
  bool from_yuv = false;     ///< false: samples are RGB already
  bool keeps_alpha = false;  ///< packed4: the samples have alpha; else 255 is stored
  bool blue_first = false;   ///< packed: the order is blue, green, red
  std::uint8_t flip = 0;     ///< planes: xor of every code
  FixedColors fixed;
};

/// One row. Rows of samples have spare samples; only the `width` pixels are written.
struct FusedWriteJob {
  std::array<const std::int16_t*, 4> in{};
  std::array<std::uint8_t*, 3> out{};  ///< planes: red, green, blue; packed: the first one only
  std::size_t width = 0;
};

void fused_write_row(const FusedWriteSetup& setup, const FusedWriteJob& job);

}  // namespace halyard::image
