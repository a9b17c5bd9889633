// SPDX-License-Identifier: Apache-2.0
// Fills what the picture leaves free, in destinations whose channels all have one sample a pixel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "image/channels.h"
#include "image/plan.h"

namespace halyard::image {

/// One pad row, encoded once a request, copied wherever it is needed. Reuses its memory.
class PadRow {
 public:
  /// `target` are the destination's channels in the order of the plan's map.
  void prepare(const Plan& plan, const std::array<TargetChannel, 4>& target);
  /// Writes the pad part of destination rows [begin, end).
  void fill(std::int32_t begin, std::int32_t end) const noexcept;

 private:
  struct Plane {
    TargetChannel channel;   // base is that of the plane's first byte
    std::size_t offset = 0;  // of its encoded row in bytes_
  };
  void fill_columns(std::int32_t y, std::int32_t begin, std::int32_t end) const noexcept;
  std::vector<std::byte> bytes_;
  std::array<Plane, 4> planes_{};
  std::size_t plane_count_ = 0;
  Region content_;
  Size size_;
};

/// Writes code `value` of channel `c` as the destination stores it.
void store_code(const Plan& plan, std::size_t c, std::uint8_t code, std::byte* to) noexcept;

}  // namespace halyard::image
