// SPDX-License-Identifier: Apache-2.0
// One object for each thread. A lack of memory is an error and does not end the process.
#pragma once

#include <pthread.h>

#include <memory>
#include <new>

namespace halyard {

/// A key of POSIX threads. When a thread ends, it calls `destroy` with its value.
class ThreadKey {
 public:
  explicit ThreadKey(void (*destroy)(void*)) noexcept;
  ThreadKey(const ThreadKey&) = delete;
  ThreadKey& operator=(const ThreadKey&) = delete;
  /// Values of threads that still run are never destroyed.
  ~ThreadKey();
  /// Sets the value of the calling thread. Returns false if memory is short. If the process has no
  /// key left, the value is kept until the process ends. Thread-safe.
  [[nodiscard]] bool hold(const void* value) const noexcept;

 private:
  pthread_key_t key_;
};

/// The T of each thread: made by the thread's first get(), destroyed when the thread ends. A
/// thread_local variable with a destructor does the same, but glibc ends the process if it has no
/// memory to register the destructor.
template <class T>
class PerThread {
 public:
  /// Throws std::bad_alloc, and what T() throws; a later call tries again. Thread-safe.
  static T& get() {
    if (own_ == nullptr) make();
    return *own_;
  }

 private:
  static void make() {
    auto made = std::make_unique<T>();
    if (!key_.hold(made.get())) throw std::bad_alloc();
    own_ = made.release();
  }
  static void destroy(void* value) {
    own_ = nullptr;  // a later destructor on this thread makes a new object
    delete static_cast<T*>(value);
  }
  static constinit inline thread_local T* own_ = nullptr;
  static inline const ThreadKey key_{destroy};
};

}  // namespace halyard
