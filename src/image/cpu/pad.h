// SPDX-License-Identifier: Apache-2.0
// Fills what the picture leaves free of the destination.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "image/cpu/program.h"

namespace halyard::image {

/// One encoded pad row per plane, copied wherever it is needed. Immutable.
class PadFill {
 public:
  /// `kept`: the destination pixels that others write, from block to block of the chroma.
  PadFill(const Plan& plan, const Region& kept);
  /// Writes the pad of destination rows [begin, end), from block to block.
  void fill(const Frame& frame, std::int32_t begin, std::int32_t end) const noexcept;

 private:
  /// Channels that share a plane's bytes; the frame tells where the plane is.
  struct Plane {
    std::uint8_t channel = 0;  ///< whose target leads to the plane's first byte ...
    std::size_t offset = 0;    ///< ... this far behind it
    std::size_t row = 0;       ///< of the encoded row in bytes_
    std::size_t row_bytes = 0;
    std::size_t step = 0;
    std::uint8_t shift_x = 0;
    std::uint8_t shift_y = 0;
  };
  void fill_plane(const Frame& frame, const Plane& plane, std::int32_t begin,
                  std::int32_t end) const noexcept;
  std::vector<std::byte> bytes_;
  std::array<Plane, 4> planes_{};
  std::size_t plane_count_ = 0;
  Region kept_;
  Size size_;
};

}  // namespace halyard::image
