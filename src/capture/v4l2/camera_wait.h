// SPDX-License-Identifier: Apache-2.0
// CameraWait: one descriptor for all that ends a wait: a frame, cancel(), the time to open again,
// a buffer that came back.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>

#include "base/local.h"
#include "halyard/fd.h"
#include "halyard/result.h"

namespace halyard::capture {

/// Thread-bound, except for cancel(), wake() and fd().
class HALYARD_LOCAL CameraWait {
 public:
  CameraWait() = default;
  CameraWait(const CameraWait&) = delete;
  CameraWait& operator=(const CameraWait&) = delete;
  /// Errors: exhausted or os (no descriptor).
  Status create();
  /// Readable while wait() would return at once.
  int fd() const noexcept { return epoll_.get(); }

  /// Watches the descriptor of a device, borrowed, until unwatch() or its end. `events`: EPOLL*.
  Status watch(int camera, std::uint32_t events = EPOLLIN);
  bool is_watching() const noexcept { return camera_ >= 0; }
  void unwatch() noexcept;
  /// Ends a wait after this time, once.
  void set_timer(std::chrono::milliseconds after) noexcept;
  /// Ends the wait of now, or the next one. Takes the place of a timer. Thread-safe.
  void wake() noexcept;
  /// Thread-safe; may be called from a signal handler.
  void cancel() noexcept;
  /// Whether cancel() was called since the last call of this.
  bool take_cancel() noexcept;

  /// Waits; at most a little longer than the largest count of milliseconds that fits an int. True:
  /// the driver reports an error. Errors: os.
  Result<bool> wait(std::chrono::milliseconds timeout);

 private:
  Status add(int fd, std::uint32_t events);

  Fd epoll_;
  Fd cancel_;
  Fd timer_;
  int camera_ = -1;
};

}  // namespace halyard::capture
