// SPDX-License-Identifier: Apache-2.0
// Tests how many threads can start by starting them. ForkMutex: a mutex that stores the fork
// generation of its holder.
#include "halyard/threads.h"

#include <pthread.h>

#include <algorithm>
#include <array>

namespace halyard {
namespace {

std::atomic<std::size_t> proven{0};

/// Started threads wait here until all have started.
struct Gate {
  std::atomic<bool> is_open{false};
};

void* wait_at(void* gate) noexcept {
  static_cast<Gate*>(gate)->is_open.wait(false, std::memory_order_acquire);
  return nullptr;
}

}  // namespace

std::size_t startable_threads(std::size_t wanted) noexcept {
  if (wanted <= proven.load(std::memory_order_relaxed)) return wanted;
  std::array<pthread_t, 256> threads;  // no work of the library uses more
  wanted = std::min(wanted, threads.size());
  Gate gate;
  std::size_t count = 0;
  while (count < wanted && ::pthread_create(&threads[count], nullptr, wait_at, &gate) == 0)
    ++count;
  gate.is_open.store(true, std::memory_order_release);
  gate.is_open.notify_all();
  for (std::size_t i = 0; i < count; ++i)
    ::pthread_join(threads[i], nullptr);
  std::size_t known = proven.load(std::memory_order_relaxed);
  while (count > known && !proven.compare_exchange_weak(known, count, std::memory_order_relaxed)) {
  }
  return count;
}

bool ForkMutex::lock_slowly(std::uint32_t mine) noexcept {
  for (;;) {
    std::uint32_t seen = holder_.load(std::memory_order_relaxed);
    // A thread that has waited marks the lock as contended, so that it wakes the next waiter.
    if (seen == 0) {
      if (holder_.compare_exchange_weak(seen, mine | 1, std::memory_order_acquire)) return true;
      continue;
    }
    if ((seen & ~1U) != mine) return false;
    if ((seen & 1) == 0 &&
        !holder_.compare_exchange_weak(seen, seen | 1, std::memory_order_relaxed))
      continue;
    holder_.wait(mine | 1, std::memory_order_relaxed);
  }
}

// Releases the lock for a holder of the parent process, unless another thread has done so.
void ForkMutex::take_over() noexcept {
  std::uint32_t seen = holder_.load(std::memory_order_relaxed);
  const std::uint32_t mine = fork_generation() * 2;
  if (seen != 0 && (seen & ~1U) != mine)
    holder_.compare_exchange_strong(seen, 0, std::memory_order_relaxed);
}

void ForkMutex::wake() noexcept {
  holder_.notify_one();
}

}  // namespace halyard
