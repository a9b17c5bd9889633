// SPDX-License-Identifier: Apache-2.0
// The mutex of a Python object, which another thread may have held when the process was forked.
#pragma once

#include <cstddef>
#include <mutex>

#include "halyard/threads.h"

namespace halyard::python {

/// Thrown by PyMutex::lock(); bind_errors() converts it to halyard's busy error.
struct HeldInParent {};

/// For std::lock_guard and similar. lock() throws HeldInParent if a thread of the parent process
/// held the mutex when this process was forked: it is never released here.
class PyMutex {
 public:
  void lock() {
    if (!mutex_.lock()) throw HeldInParent();
  }
  bool try_lock() noexcept { return mutex_.try_lock(); }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  ForkMutex mutex_;
};

/// The same with std::shared_lock, which several threads hold at once. If threads of the parent
/// process shared it, a child can share it too, but cannot lock it exclusively.
class PySharedMutex {
 public:
  void lock() { owner_.lock(); }
  void unlock() noexcept { owner_.unlock(); }
  void lock_shared() {
    const std::lock_guard lock(count_mutex_);
    if (count_ == 0) owner_.lock();
    ++count_;
  }
  void unlock_shared() {
    const std::lock_guard lock(count_mutex_);
    if (--count_ == 0) owner_.unlock();
  }

 private:
  PyMutex owner_;        ///< held by the exclusive owner, or for all who share it
  PyMutex count_mutex_;  ///< held while the first of the sharers waits
  std::size_t count_ = 0;
};

}  // namespace halyard::python
