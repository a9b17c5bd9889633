// SPDX-License-Identifier: Apache-2.0
// Conditions of mutexes with ranks.
#pragma once

#include <condition_variable>
#include <mutex>

#include "base/system/ranked_mutex.h"

namespace halyard {

/// std::condition_variable for RankedMutex. A waiting thread keeps the rank.
class RankedCondition {
 public:
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }
  template <class Lock, class Condition>
  void wait(Lock& lock, Condition is_met) {
    Unranked unranked(lock);
    condition_.wait(unranked.lock, is_met);
  }
  template <class Lock, class Duration, class Condition>
  bool wait_for(Lock& lock, const Duration& limit, Condition is_met) {
    Unranked unranked(lock);
    return condition_.wait_for(unranked.lock, limit, is_met);
  }
  template <class Lock, class Time>
  void wait_until(Lock& lock, const Time& end) {
    Unranked unranked(lock);
    condition_.wait_until(unranked.lock, end);
  }

 private:
  struct Unranked {
    template <class Lock>
    explicit Unranked(Lock& ranked) : lock(ranked.mutex()->mutex_, std::adopt_lock) {}
    Unranked(const Unranked&) = delete;
    Unranked& operator=(const Unranked&) = delete;
    ~Unranked() { lock.release(); }
    std::unique_lock<std::mutex> lock;
  };
  std::condition_variable condition_;
};

}  // namespace halyard
