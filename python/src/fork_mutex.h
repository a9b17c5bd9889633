// SPDX-License-Identifier: Apache-2.0
// The mutex of an object of Python, which may have been in use when the process was forked.
#pragma once

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

}  // namespace halyard::python
