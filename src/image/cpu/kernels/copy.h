// SPDX-License-Identifier: Apache-2.0
// Kernels: rows of elements that change their order, and copies that leave the cache alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::image {

struct RowMove {
  std::size_t element_bytes = 1;                  ///< 1 .. 4
  std::array<std::uint8_t, 4> order{0, 1, 2, 3};  ///< byte k of an element comes from byte order[k]
  bool mirrored = false;                          ///< the last element comes first
};

/// `count` elements; reads and writes them and no other byte. `in` and `out` do not overlap.
void move_row(const RowMove& move, const std::byte* in, std::size_t count, std::byte* out) noexcept;

/// memcpy() whose whole cache lines go past the cache, where the machine can; other threads see
/// them after finish_streams() on this one.
void stream_bytes(const std::byte* in, std::size_t count, std::byte* out) noexcept;
void finish_streams() noexcept;

}  // namespace halyard::image
