// SPDX-License-Identifier: Apache-2.0
// The handler only sets a flag; SA_RESETHAND leaves the second signal its deadly default. Without
// SA_RESTART a read that waits for a pipe comes back.
#include "interrupt.h"

#include <atomic>
#include <csignal>

namespace halyard::tool {
namespace {

std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) {
  requested.store(true, std::memory_order_relaxed);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  requested.store(false, std::memory_order_relaxed);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptGuard::is_requested() noexcept {
  return requested.load(std::memory_order_relaxed);
}

}  // namespace halyard::tool
