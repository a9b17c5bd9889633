// SPDX-License-Identifier: Apache-2.0
// A flag that fork() raises in children.
#include "base/fork.h"

#include <pthread.h>

#include <atomic>

namespace halyard {
namespace {

std::atomic<bool> are_lost{false};

}  // namespace

void threads_start() noexcept {
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { are_lost.store(true, std::memory_order_relaxed); });
}

bool threads_are_lost() noexcept {
  return are_lost.load(std::memory_order_relaxed);
}

}  // namespace halyard
