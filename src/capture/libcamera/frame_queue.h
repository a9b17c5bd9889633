// SPDX-License-Identifier: Apache-2.0
// FrameQueue: frames between libcamera's thread, which completes them, and take().
#pragma once

#include <libcamera/request.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "base/system/ranked_mutex.h"
#include "halyard/c/capture_plugin.h"

namespace halyard::libcamera_plugin {

/// Thread-safe. It holds no more frames than the camera has buffers.
class FrameQueue {
 public:
  FrameQueue();
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;
  ~FrameQueue();

  /// Readable while there is a frame, or the camera is gone; -1: there was no descriptor.
  int fd() const noexcept { return fd_; }
  /// A request that has ended; one that stop() has cancelled is left out.
  void complete(const libcamera::Request& request);
  /// The camera was unplugged.
  void end() noexcept;
  /// HAL_CAPTURE_OK, _END or _GONE. Frames from before the loss come first.
  int take(hal_capture_frame& frame) noexcept;

 private:
  int fd_;
  RankedMutex<LockRank::leaf> mutex_;
  std::deque<hal_capture_frame> frames_;
  bool is_gone_ = false;
};

}  // namespace halyard::libcamera_plugin
