// SPDX-License-Identifier: Apache-2.0
// Threads where the system may refuse them, and locks where fork() may lose them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "halyard/export.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// How many of `wanted` further threads the system lets this process start now (RLIMIT_NPROC, a
/// cgroup, address space). Found out by starting them: call it before a pool of threads is made,
/// not for each piece of work. A count that was found once is not asked for again. Thread-safe.
std::size_t startable_threads(std::size_t wanted) noexcept;

/// Counts the fork() calls between the first process and this one, from 1 on. Thread-safe.
std::uint32_t fork_generation() noexcept;

/// A mutex that knows when its holder is a thread that fork() left behind in the parent: lock()
/// then says so instead of waiting for ever. Not recursive. Thread-safe.
class ForkMutex {
 public:
  constexpr ForkMutex() noexcept = default;
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  /// False: it was held when this process was forked. What it protects may be half changed.
  [[nodiscard]] bool lock() noexcept {
    std::uint32_t seen = 0;
    const std::uint32_t mine = fork_generation() * 2;
    return holder_.compare_exchange_strong(seen, mine, std::memory_order_acquire) ||
           lock_slowly(mine);
  }
  /// Always locks: takes the mutex over from a thread that fork() left behind. For what is whole
  /// after each single store, so that a thread that stops between two of them harms nothing.
  void lock_anyway() noexcept {
    while (!lock())
      take_over();
  }
  /// False: somebody holds it.
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t seen = 0;
    return holder_.compare_exchange_strong(seen, fork_generation() * 2, std::memory_order_acquire);
  }
  void unlock() noexcept {
    if ((holder_.exchange(0, std::memory_order_release) & 1) != 0) wake();
  }

 private:
  bool lock_slowly(std::uint32_t mine) noexcept;
  void take_over() noexcept;
  void wake() noexcept;
  std::atomic<std::uint32_t> holder_{0};  ///< twice the holder's generation, plus 1: others wait
};

/// Holds a ForkMutex until its end, if it could be locked.
class [[nodiscard]] ForkLock {
 public:
  explicit ForkLock(ForkMutex& mutex) noexcept : mutex_(mutex.lock() ? &mutex : nullptr) {}
  ForkLock(const ForkLock&) = delete;
  ForkLock& operator=(const ForkLock&) = delete;
  ~ForkLock() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  explicit operator bool() const noexcept { return mutex_ != nullptr; }

 private:
  ForkMutex* mutex_;
};

/// Holds a ForkMutex until its end, also where it has to be taken over.
class [[nodiscard]] ForkTakingLock {
 public:
  explicit ForkTakingLock(ForkMutex& mutex) noexcept : mutex_(mutex) { mutex_.lock_anyway(); }
  ForkTakingLock(const ForkTakingLock&) = delete;
  ForkTakingLock& operator=(const ForkTakingLock&) = delete;
  ~ForkTakingLock() { mutex_.unlock(); }

 private:
  ForkMutex& mutex_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
