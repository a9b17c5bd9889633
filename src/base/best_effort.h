// SPDX-License-Identifier: Apache-2.0
// For destructors: work that may be left out when memory is short.
#pragma once

#include <new>

namespace halyard {

/// Runs `work`; ends it early, without an error, at std::bad_alloc.
template <class Work>
void best_effort(const Work& work) noexcept {
  try {
    work();
  } catch (const std::bad_alloc&) {
    // The work is optional; the caller has no way to report the failure.
  }
}

}  // namespace halyard
