// SPDX-License-Identifier: Apache-2.0
// A thread that does as it is told.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace halyard::test {

/// A thread that does as it is told, so that locks are of its own.
class OtherThread {
 public:
  ~OtherThread() {
    run(nullptr);
    thread_.join();
  }
  OtherThread() = default;
  OtherThread(const OtherThread&) = delete;
  OtherThread& operator=(const OtherThread&) = delete;
  /// Returns when the work is done.
  void run(std::function<void()> work) {
    std::unique_lock lock(mutex_);
    work_ = std::move(work);
    is_given_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !is_given_; });
  }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_given_; });
      const bool ends = !work_;
      if (!ends) work_();
      is_given_ = false;
      changed_.notify_all();
      if (ends) return;
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool is_given_ = false;
  std::thread thread_{[this] { loop(); }};
};

}  // namespace halyard::test
