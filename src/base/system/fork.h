// SPDX-License-Identifier: Apache-2.0
// Our threads and fork(): a child has none of them, and waiting for them would never end.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/local.h"
#include "halyard/fd.h"
#include "halyard/threads.h"

namespace halyard {

/// Call before starting threads, and before the first call of a library that starts them.
/// Thread-safe.
void threads_start() noexcept;
/// Whether this process was forked from one that had called threads_start(). Such a process does
/// the work on the calling threads. Thread-safe.
bool threads_are_lost() noexcept;

/// Held while the loader loads a shared object. A fork() by another thread waits for its end, at
/// most ten seconds: the loader's tables would be half changed in the child, and its next dlopen()
/// could crash. Turns of one thread nest, and it may fork() in them. Thread-bound.
class HALYARD_LOCAL LoadingTurn {
 public:
  LoadingTurn() noexcept;
  LoadingTurn(const LoadingTurn&) = delete;
  LoadingTurn& operator=(const LoadingTurn&) = delete;
  ~LoadingTurn();
};

/// A descriptor that a child of fork() closes at once. For descriptors whose end tells others that
/// this process has ended. This holds for the first 4096 of a process. Move-only. Thread-bound.
class HALYARD_LOCAL ParentFd {
 public:
  ParentFd() = default;
  explicit ParentFd(Fd fd) noexcept;
  ParentFd(ParentFd&& other) noexcept
      : fd_(std::move(other.fd_)),
        place_(std::exchange(other.place_, nullptr)),
        generation_(other.generation_) {}
  ParentFd& operator=(ParentFd&& other) noexcept;
  ParentFd(const ParentFd&) = delete;
  ParentFd& operator=(const ParentFd&) = delete;
  ~ParentFd() { reset(); }

  /// -1 in a child.
  int get() const noexcept { return generation_ == fork_generation() ? fd_.get() : -1; }
  void reset() noexcept;

 private:
  Fd fd_;
  std::atomic<int>* place_ = nullptr;
  std::uint32_t generation_ = 0;
};

/// Returns the object at `place`, which `make` makes at the first call and which lives until the
/// process ends. Two threads may both make one at the first call; one of them is kept. No thread
/// waits, unlike for a static local variable: a child that is forked while another thread
/// initialises that variable may wait for ever.
template <class T, class Make>
T& made_once(std::atomic<T*>& place, Make&& make) {
  T* known = place.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  std::unique_ptr<T> fresh(std::forward<Make>(make)());
  if (place.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel))
    return *fresh.release();
  return *known;
}

/// One `T` for each process. A child of fork() gets a new one at its first call, because the
/// parent's threads may have left the old one locked or half changed. No `T` is destroyed.
/// Thread-safe.
template <class T>
class PerProcess {
 public:
  T& get() {
    Entry* known = place_.load(std::memory_order_acquire);
    const std::uint32_t now = fork_generation();
    while (known == nullptr || known->generation != now) {
      auto fresh = std::make_unique<Entry>();
      fresh->generation = now;
      if (place_.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel))
        return fresh.release()->value;
    }
    return known->value;
  }

 private:
  struct Entry {
    std::uint32_t generation = 0;
    T value;
  };
  std::atomic<Entry*> place_{nullptr};
};

}  // namespace halyard
