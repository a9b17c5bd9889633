// SPDX-License-Identifier: Apache-2.0
// Fills what the image leaves free of the destination.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "image/cpu/cpu_program.h"
#include "image/cpu/kernels/fill.h"

namespace halyard::image {

/// The encoded pad of each plane, copied wherever it is needed. Immutable.
class PadWriter {
 public:
  /// `kept`: the destination pixels that others write, from block to block of the chroma. Nothing
  /// is filled, and nothing spent, where it is the whole image.
  PadWriter(const Plan& plan, const Region& kept);
  /// Writes the pad of destination rows [begin, end), from block to block.
  void fill(const MappedImages& frame, std::int32_t begin, std::int32_t end) const noexcept;

 private:
  /// Channels that share a plane's bytes; the frame tells where the plane is. A row is whole
  /// periods of bytes: a pixel, or a pair of them in packed YUV.
  struct Plane {
    std::uint8_t channel = 0;  ///< whose target leads to the plane's first byte ...
    std::uint8_t offset = 0;   ///< ... so many bytes behind it
    std::uint8_t shift_y = 0;
    std::size_t row_bytes = 0;
    std::size_t left_bytes = 0;   ///< of rows that the kept pixels cross: before these ...
    std::size_t right_bytes = 0;  ///< ... and behind them
    std::int32_t top = 0;         ///< the first row that they cross ...
    std::int32_t bottom = 0;      ///< ... and the first one behind
    alignas(64) std::array<std::byte, pattern_bytes> pattern;
  };
  static void encode(const Plan& plan, Plane& plane, std::size_t index, const Region& kept);
  static void fill_plane(const MappedImages& frame, const Plane& plane, std::int32_t begin,
                         std::int32_t end) noexcept;

  std::array<Plane, 4> planes_;
  std::size_t plane_count_ = 0;
};

}  // namespace halyard::image
