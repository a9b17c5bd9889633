// SPDX-License-Identifier: Apache-2.0
// The two futex calls.
#include "base/system/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace halyard {

void wake_all_at(const void* word) noexcept {
  ::syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void wait_at_word(const void* word, std::uint32_t seen, std::chrono::nanoseconds timeout) noexcept {
  timespec time = {};
  time.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000);
  time.tv_nsec = static_cast<long>(timeout.count() % 1'000'000'000);
  ::syscall(SYS_futex, word, FUTEX_WAIT, seen, &time, nullptr, 0);
}

}  // namespace halyard
