// SPDX-License-Identifier: Apache-2.0
// Threads of ours and fork(): a child has none of them, and waiting for them would take for ever.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/local.h"
#include "halyard/fd.h"
#include "halyard/threads.h"

namespace halyard {

/// Said before threads are started, and before the library that starts them is first called.
/// Thread-safe.
void threads_start() noexcept;
/// Whether this process was forked from one that had said so. Such a process works on the threads
/// that call. Thread-safe.
bool threads_are_lost() noexcept;

/// A descriptor that a child of fork() closes at once, for those that tell others by their end that
/// this process has ended. The first 4096 of a process are closed so. Move-only. Thread-bound.
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

/// What `make` gives, at `place` from the first call on, until the process ends. Two threads that
/// come first may both make it, and one is kept: nobody waits, as for a static local variable,
/// which a child may do for ever when it is forked while another thread makes it.
template <class T, class Make>
T& made_once(std::atomic<T*>& place, Make&& make) {
  T* known = place.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  std::unique_ptr<T> fresh(std::forward<Make>(make)());
  if (place.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel))
    return *fresh.release();
  return *known;
}

/// One `T` for each process: a child of fork() gets a fresh one at its first call, for what the
/// parent's threads had half done or locked is of no use to it; the old one is never destroyed, as
/// is the last. Thread-safe.
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
