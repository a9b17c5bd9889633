// SPDX-License-Identifier: Apache-2.0
// Counts what a test program takes from the heap through operator new. See allocations.cpp.
#pragma once

#include <cstdint>

namespace halyard::test {

/// Since the program began, on all threads.
std::uint64_t allocations() noexcept;
/// The bytes of all of them.
std::uint64_t allocated_bytes() noexcept;

/// Of twenty calls, after one to warm up.
template <class Call>
std::uint64_t allocations_of(Call&& call) {
  call();
  const std::uint64_t before = allocations();
  for (int i = 0; i < 20; ++i)
    call();
  return allocations() - before;
}

}  // namespace halyard::test
