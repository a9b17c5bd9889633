// SPDX-License-Identifier: Apache-2.0
// A heap that fails when a test says so: the n-th allocation of the calling thread, or all from
// there on. Linked into programs that ask for it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halyard::test {

enum class Shortage : std::uint8_t {
  once,       ///< one allocation fails, the next ones do not
  from_there  ///< all fail from there on
};

/// While it lives, allocations of this thread fail from number `first` on (0: the first one). Under
/// AddressSanitizer those of operator new alone.
class AllocationLimit {
 public:
  AllocationLimit(std::size_t first, Shortage shortage) noexcept;
  AllocationLimit(const AllocationLimit&) = delete;
  AllocationLimit& operator=(const AllocationLimit&) = delete;
  ~AllocationLimit();
  std::size_t failures() const noexcept;  ///< so far
};

}  // namespace halyard::test
