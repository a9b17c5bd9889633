// SPDX-License-Identifier: Apache-2.0
// How many descriptors this process holds, for tests that nothing leaks.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace halyard::test {

/// Counts one more, the folder's own, at each call.
inline std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

}  // namespace halyard::test
