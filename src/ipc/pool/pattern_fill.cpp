// SPDX-License-Identifier: Apache-2.0
// Fills a row by copying what was written before, so that memcpy's wide stores do the work.
#include "ipc/pool/pattern_fill.h"

#include <algorithm>
#include <cstring>

namespace halyard::ipc {
namespace {

// The source of the copies stays in the L1 cache.
constexpr std::size_t source_bytes = 8192;

void fill_run(std::byte* to, std::size_t bytes, std::span<const std::byte> pattern) noexcept {
  if (std::all_of(pattern.begin(), pattern.end(), [&](std::byte b) { return b == pattern[0]; })) {
    std::memset(to, std::to_integer<int>(pattern[0]), bytes);
    return;
  }
  const std::size_t longest = source_bytes / pattern.size() * pattern.size();
  std::size_t done = std::min(bytes, pattern.size());
  std::memcpy(to, pattern.data(), done);
  while (done < bytes) {
    const std::size_t count = std::min({done, longest, bytes - done});
    std::memcpy(to + done, to, count);
    done += count;
  }
}

}  // namespace

void fill_plane(const MappedPlane& plane, std::span<const std::byte> pattern) noexcept {
  if (plane.stride_bytes == plane.row_bytes) {
    fill_run(plane.writable, plane.rows * plane.row_bytes, pattern);
    return;
  }
  for (std::size_t row = 0; row < plane.rows; ++row)
    fill_run(plane.writable + row * plane.stride_bytes, plane.row_bytes, pattern);
}

}  // namespace halyard::ipc
