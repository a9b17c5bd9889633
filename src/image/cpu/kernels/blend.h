// SPDX-License-Identifier: Apache-2.0
// Kernel: bilinear blend of four samples, place by place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// Samples about each place and how far right and down of the first it lies, in 1/32768.
struct BlendJob {
  std::array<const std::uint8_t*, 4>
      corner{};  ///< upper left, upper right, lower left, lower right
  const std::int16_t* right = nullptr;
  const std::int16_t* vertical = nullptr;
};

/// out[i], 8.7 fixed point. Loads and stores whole vectors: all rows have spare samples.
void blend_corners(const BlendJob& job, std::size_t count, std::int16_t* out) noexcept;

}  // namespace halyard::image
