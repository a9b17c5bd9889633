// SPDX-License-Identifier: Apache-2.0
// Thread numbers from one atomic counter.

#include "base/system/thread_number.h"

#include <atomic>

namespace halyard {
namespace {

std::atomic<std::uint64_t> last_thread{0};

}  // namespace

std::uint64_t this_thread_number() noexcept {
  thread_local const std::uint64_t mine = last_thread.fetch_add(1, std::memory_order_relaxed) + 1;
  return mine;
}

}  // namespace halyard
