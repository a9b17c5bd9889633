// SPDX-License-Identifier: Apache-2.0
// CameraWait: one descriptor for all that ends a wait: a frame, cancel(), the time to open again.
#pragma once

#include <chrono>

#include "base/local.h"
#include "halyard/fd.h"
#include "halyard/result.h"

namespace halyard::capture {

/// Thread-bound, except for cancel() and fd().
class HALYARD_LOCAL CameraWait {
 public:
  CameraWait() = default;
  CameraWait(const CameraWait&) = delete;
  CameraWait& operator=(const CameraWait&) = delete;
  /// Errors: exhausted or os (no descriptor).
  Status create();
  /// Readable while wait() would return at once.
  int fd() const noexcept { return epoll_.get(); }

  /// Watches a camera's descriptor, borrowed, until unwatch() or its end.
  Status watch(int camera);
  void unwatch() noexcept;
  /// Ends a wait after this time, once.
  void set_timer(std::chrono::milliseconds after) noexcept;
  /// Thread-safe; may be called from a signal handler.
  void cancel() noexcept;
  /// Whether cancel() was called since the last call of this.
  bool take_cancel() noexcept;

  /// Waits; at most a little longer than the largest count of milliseconds that fits an int. True:
  /// the driver reports an error. Errors: os.
  Result<bool> wait(std::chrono::milliseconds timeout);

 private:
  Status add(int fd);

  Fd epoll_;
  Fd cancel_;
  Fd timer_;
  int camera_ = -1;
};

}  // namespace halyard::capture
