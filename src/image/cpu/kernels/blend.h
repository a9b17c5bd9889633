// SPDX-License-Identifier: Apache-2.0
// Kernel: bilinear blend of four samples for each output position.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// The four samples around each position, and how far right of and below the first one the position
/// is, in 1/32768.
struct BlendJob {
  std::array<const std::uint8_t*, 4>
      corner{};  ///< upper left, upper right, lower left, lower right
  const std::int16_t* fraction_x = nullptr;
  const std::int16_t* fraction_y = nullptr;
};

/// Writes out[i] as fixed point with 7 fractional bits. Loads and stores whole vectors: all rows
/// have spare samples.
void blend_corners(const BlendJob& job, std::size_t count, std::int16_t* out) noexcept;

}  // namespace halyard::image
