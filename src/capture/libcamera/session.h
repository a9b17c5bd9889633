// SPDX-License-Identifier: Apache-2.0
// Session: one camera of libcamera that was opened, with its buffers and requests.
#pragma once

#include <libcamera/camera.h>
#include <libcamera/framebuffer_allocator.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/system/ranked_mutex.h"
#include "capture/libcamera/controls.h"
#include "capture/libcamera/frame_queue.h"
#include "capture/libcamera/manager.h"
#include "halyard/c/capture_plugin.h"

namespace halyard::libcamera_plugin {

/// Threads: as the functions of hal_capture_plugin.
class Session {
 public:
  /// `text`: where reasons are written; HAL_CAPTURE_*.
  explicit Session(CameraPtr camera);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Formats and sizes that the camera offers for video.
  const std::vector<libcamera::PixelFormat>& formats() const noexcept { return formats_; }
  std::vector<libcamera::SizeRange> sizes(std::size_t format) const;
  int configure(const hal_capture_wish& wish, hal_capture_mode& mode, char* text);
  int buffer(std::uint32_t index, hal_capture_buffer& out) const;
  int start(char* text);
  int give_back(std::uint32_t index);
  FrameQueue& frames() noexcept { return *frames_; }

  std::vector<NumberControl> controls() const;
  /// As it was set, or else its default.
  std::int64_t value_of(const NumberControl& control) const;
  int set_control(std::uint32_t id, std::int64_t value, char* text);

 private:
  int apply(const hal_capture_wish& wish, char* text);
  int make_requests(char* text);
  double choose_rate(double wanted);
  int queue(std::uint32_t index);

  CameraPtr camera_;
  std::unique_ptr<libcamera::CameraConfiguration> config_;
  std::vector<libcamera::PixelFormat> formats_;
  std::unique_ptr<libcamera::FrameBufferAllocator> allocator_;
  std::vector<std::unique_ptr<libcamera::Request>> requests_;
  /// libcamera's thread has it too.
  const std::shared_ptr<FrameQueue> frames_ = std::make_shared<FrameQueue>();
  bool is_acquired_ = false;
  libcamera::ControlList first_controls_;                ///< of the start
  mutable RankedMutex<LockRank::camera_session> mutex_;  ///< protects all below
  bool is_running_ = false;
  std::map<unsigned, libcamera::ControlValue> pending_;  ///< for the next request
  std::map<unsigned, std::int64_t> values_;
};

}  // namespace halyard::libcamera_plugin
