// SPDX-License-Identifier: Apache-2.0
// Threads where the system may refuse them, and locks that fork() may leave locked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "halyard/export.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Number of further threads, at most `wanted`, that the system lets this process start now
/// (RLIMIT_NPROC, a cgroup, address space). Starts threads to find out: call it before you make a
/// pool of threads, not for each piece of work. A number that was found once is remembered.
/// Thread-safe.
std::size_t startable_threads(std::size_t wanted) noexcept;

/// Number of fork() calls between the first process and this one, counted from 1. Thread-safe.
std::uint32_t fork_generation() noexcept;

/// A mutex that detects whether its holder is a thread that fork() left behind in the parent:
/// lock() then returns false instead of waiting for ever. Not recursive. Thread-safe.
class ForkMutex {
 public:
  constexpr ForkMutex() noexcept = default;
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  /// False: it was held when this process was forked. The data that it protects may be half
  /// changed.
  [[nodiscard]] bool lock() noexcept {
    std::uint32_t seen = 0;
    const std::uint32_t mine = fork_generation() * 2;
    return holder_.compare_exchange_strong(seen, mine, std::memory_order_acquire) ||
           lock_slowly(mine);
  }
  /// Always locks: takes the mutex over from a thread that fork() left behind. For data that is
  /// consistent after each single store, so that a thread may stop between two stores without harm.
  void lock_anyway() noexcept {
    while (!lock())
      take_over();
  }
  /// False: the mutex is held.
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
  std::atomic<std::uint32_t> holder_{0};  ///< twice the holder's generation; plus 1: others wait
};

/// Holds a ForkMutex until destruction, if it could be locked.
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

/// Holds a ForkMutex until destruction, and takes it over where needed.
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
