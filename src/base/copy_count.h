// SPDX-License-Identifier: Apache-2.0
// Counts copies of payload; see CopyStats. Code that copies pixels or elements calls count_copy().
#pragma once

#include <cstddef>
#include <cstdint>

namespace halyard {

/// Counts one copy of `bytes` bytes. Thread-safe.
void count_copy(std::size_t bytes) noexcept;

struct CopyCount {
  std::uint64_t copies = 0;
  std::uint64_t bytes = 0;
};
/// All copies of this process so far. Thread-safe.
CopyCount counted_copies() noexcept;

}  // namespace halyard
