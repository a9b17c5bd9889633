// SPDX-License-Identifier: Apache-2.0
// Working memory of calls that may run on several threads at once: each call borrows an object,
// and the next one uses it again.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/system/ranked_mutex.h"
#include "halyard/threads.h"

namespace halyard {

/// T has a default constructor and a function release(), which gives up what belongs to the
/// caller. Thread-safe. In a child of fork() whose parent's thread held the lock, each call makes
/// an object of its own.
template <class T>
class WorkPool {
 public:
  /// An object for one call. The destructor returns it to the pool, which must outlive it.
  class Lease {
   public:
    explicit Lease(WorkPool& pool) : pool_(pool), work_(pool.take()) {}
    ~Lease() { pool_.give_back(std::move(work_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    T& operator*() const noexcept { return *work_; }
    T* operator->() const noexcept { return work_.get(); }

   private:
    WorkPool& pool_;
    std::unique_ptr<T> work_;
  };

 private:
  std::unique_ptr<T> take() {
    const RankedForkLock lock(mutex_);
    if (!lock) return std::make_unique<T>();
    if (idle_.empty()) {
      auto made = std::make_unique<T>();
      idle_.reserve(made_ + 1);  // so that give_back() cannot fail
      ++made_;
      return made;
    }
    auto out = std::move(idle_.back());
    idle_.pop_back();
    return out;
  }
  void give_back(std::unique_ptr<T> work) noexcept {
    work->release();
    const RankedForkLock lock(mutex_);
    if (lock && idle_.size() < idle_.capacity()) idle_.push_back(std::move(work));
  }

  RankedForkMutex<LockRank::leaf> mutex_;
  std::vector<std::unique_ptr<T>> idle_;
  std::size_t made_ = 0;
};

}  // namespace halyard
