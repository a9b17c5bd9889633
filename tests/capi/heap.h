// SPDX-License-Identifier: Apache-2.0
// How much of the heap is in use. Under a sanitizer, whose allocator does not count here, its own
// check for leaks replaces it.
#pragma once

#include <malloc.h>

#include <cstddef>

namespace halyard::test {

inline std::size_t heap_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace halyard::test
