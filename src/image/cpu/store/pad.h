// SPDX-License-Identifier: Apache-2.0
// PadWriter: fills the destination outside the content with pad.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "image/cpu/cpu_program.h"
#include "image/cpu/kernels/fill.h"

namespace halyard::image {

/// The encoded pad of each plane, copied to where it is needed. Immutable.
class PadWriter {
 public:
  /// `kept`: the destination pixels that others write, a rectangle of whole chroma blocks. If it is
  /// the whole image, nothing is filled and no time is spent.
  PadWriter(const Plan& plan, const Region& kept);
  /// Writes the pad of destination rows [begin, end), which are whole chroma blocks.
  void fill(const MappedImages& frame, std::int32_t begin, std::int32_t end) const noexcept;

 private:
  /// Channels that share a plane's bytes; the frame gives the plane's address. A row consists of
  /// whole periods of bytes: one pixel, or a pair of them in packed YUV.
  struct Plane {
    std::uint8_t channel = 0;  ///< channel whose target leads to the plane's first byte ...
    std::uint8_t offset = 0;   ///< ... which is this many bytes before it
    std::uint8_t shift_y = 0;
    std::size_t row_bytes = 0;
    std::size_t left_bytes = 0;   ///< in rows with kept pixels: bytes in front of these ...
    std::size_t right_bytes = 0;  ///< ... and behind them
    std::int32_t top = 0;         ///< the first row with kept pixels ...
    std::int32_t bottom = 0;      ///< ... and the first one behind them
    alignas(64) std::array<std::byte, pattern_bytes> pattern;
  };
  static void encode(const Plan& plan, Plane& plane, std::size_t index, const Region& kept);
  static void fill_plane(const MappedImages& frame, const Plane& plane, std::int32_t begin,
                         std::int32_t end) noexcept;

  std::array<Plane, 4> planes_;
  std::size_t plane_count_ = 0;
};

}  // namespace halyard::image
