// SPDX-License-Identifier: Apache-2.0
// Kernels: rows whose elements are mirrored or have their bytes reordered, and copies that bypass
// the cache.
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

/// Copies `count` elements. Reads and writes only their bytes. `in` and `out` must not overlap.
void move_row(const RowMove& move, const std::byte* in, std::size_t count, std::byte* out) noexcept;

/// Like memcpy(), but writes whole cache lines past the cache, where the machine can. Other threads
/// see the bytes after finish_streams() on this thread.
void stream_bytes(const std::byte* in, std::size_t count, std::byte* out) noexcept;
void finish_streams() noexcept;

}  // namespace halyard::image
