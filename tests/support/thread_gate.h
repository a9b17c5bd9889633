// SPDX-License-Identifier: Apache-2.0
// pthread_create() of a whole test program: refused, or held up, when a test says so.
#pragma once

namespace halyard::test {

/// While it lives, at most `limit` further threads can be started, as under RLIMIT_NPROC: threads
/// that end make room again.
class ThreadLimit {
 public:
  explicit ThreadLimit(int limit) noexcept;
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;
  ~ThreadLimit();
  int refused() const noexcept;  ///< since its beginning
};

/// While it lives, the next call of pthread_create() waits inside for release(); calls of the
/// thread that made it, and of children, do not.
class ThreadHold {
 public:
  ThreadHold() noexcept;
  ThreadHold(const ThreadHold&) = delete;
  ThreadHold& operator=(const ThreadHold&) = delete;
  ~ThreadHold();
  bool is_held() const noexcept;  ///< a thread waits
  void release() noexcept;
};

}  // namespace halyard::test
