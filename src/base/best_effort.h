// SPDX-License-Identifier: Apache-2.0
// For destructors: what may be left out when there is no memory for it.
#pragma once

#include <new>

namespace halyard {

/// Runs `work`; ends it early where memory ends.
template <class Work>
void best_effort(const Work& work) noexcept {
  try {
    work();
  } catch (const std::bad_alloc&) {
    // Whoever should have been told notices later.
  }
}

}  // namespace halyard
