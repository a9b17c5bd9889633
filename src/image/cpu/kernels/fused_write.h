// SPDX-License-Identifier: Apache-2.0
// Rows of samples to the destination's RGB bytes in one step: what change_colors() and
// store_codes() make of them, bit for bit. Compiled for every instruction set and chosen at run
// time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "image/cpu/kernels/color.h"

namespace halyard::image {

/// Samples are 8.7: none is negative.
struct FusedWriteSetup {
  enum class Store : std::uint8_t { packed3, packed4, planes };
  Store store{};
  bool from_yuv = false;     ///< or RGB as it is
  bool keeps_alpha = false;  ///< packed4: the samples have alpha, else 255 is stored
  bool blue_first = false;   ///< packed: blue lies before green, red behind it
  std::uint8_t flip = 0;     ///< planes: xor of every code
  FixedColors fixed;
};

/// One row. Samples have spare ones; nothing beside the `width` pixels is written.
struct FusedWriteJob {
  std::array<const std::int16_t*, 4> in{};
  std::array<std::uint8_t*, 3> out{};  ///< planes: red, green, blue; else the first alone
  std::size_t width = 0;
};

void paint_row(const FusedWriteSetup& setup, const FusedWriteJob& job);

}  // namespace halyard::image
