// SPDX-License-Identifier: Apache-2.0
// A lock for sections of some ten nanoseconds that two threads seldom want at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "ipc/node/shared_word.h"

namespace halyard::ipc {

/// Costs half as much as a mutex, since unlocking is one store. A waiting thread sleeps in growing
/// steps of up to 50 us. For std::lock_guard.
class ShortLock {
 public:
  void lock() noexcept {
    if (!is_locked_.exchange(true, std::memory_order_acquire)) return;
    for (int spins = 0; spins < 100; ++spins) {
      SharedWord::pause();
      if (try_lock()) return;
    }
    for (auto sleep = std::chrono::microseconds(1); !try_lock();
         sleep = std::min(2 * sleep, std::chrono::microseconds(50)))
      std::this_thread::sleep_for(sleep);
  }
  bool try_lock() noexcept {
    return !is_locked_.load(std::memory_order_relaxed) &&
           !is_locked_.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept { is_locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_locked_{false};
};

}  // namespace halyard::ipc
