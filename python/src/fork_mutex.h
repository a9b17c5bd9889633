// SPDX-License-Identifier: Apache-2.0
// The mutex of an object of Python, which may have been in use when the process was forked.
#pragma once

#include <cstddef>
#include <mutex>

#include "halyard/threads.h"

namespace halyard::python {

/// Thrown by PyMutex::lock(); bind_errors() makes halyard's busy error of it.
struct HeldInParent {};

/// For std::lock_guard and its kin. lock() throws HeldInParent where a thread of the parent process
/// held the mutex when this process was forked: it is never given back here.
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

/// The same with std::shared_lock, which several threads hold at once. Where threads of the parent
/// process shared it, a child shares it too, and cannot lock it for itself.
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
  PyMutex owner_;        ///< of who holds it alone, or of all who share it
  PyMutex count_mutex_;  ///< held while the first of them waits
  std::size_t count_ = 0;
};

}  // namespace halyard::python
