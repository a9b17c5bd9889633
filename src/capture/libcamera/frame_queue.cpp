// SPDX-License-Identifier: Apache-2.0
// A queue with an eventfd.
#include "capture/libcamera/frame_queue.h"

#include <libcamera/framebuffer.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

namespace halyard::libcamera_plugin {
namespace {

hal_capture_frame frame_of(const libcamera::Request& request,
                           const libcamera::FrameMetadata& metadata) {
  hal_capture_frame frame{};
  frame.index = static_cast<std::uint32_t>(request.cookie());
  frame.flags =
      metadata.status == libcamera::FrameMetadata::FrameSuccess ? 0 : HAL_CAPTURE_FRAME_DAMAGED;
  frame.sequence = metadata.sequence;
  frame.timestamp_ns = static_cast<std::int64_t>(metadata.timestamp);
  const auto planes = metadata.planes();
  for (std::size_t i = 0; i < std::min<std::size_t>(planes.size(), HAL_CAPTURE_MAX_PLANES); ++i)
    frame.used[i] = planes[i].bytesused;
  return frame;
}

void raise_event(int fd) noexcept {
  constexpr std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t done = ::write(fd, &one, sizeof(one));
}

void drain_event(int fd) noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t done = ::read(fd, &count, sizeof(count));
}

}  // namespace

FrameQueue::FrameQueue() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

FrameQueue::~FrameQueue() {
  if (fd_ >= 0) ::close(fd_);
}

void FrameQueue::complete(const libcamera::Request& request) {
  if (request.status() == libcamera::Request::RequestCancelled || request.buffers().empty()) return;
  const auto& metadata = request.buffers().begin()->second->metadata();
  const std::lock_guard lock(mutex_);
  frames_.push_back(frame_of(request, metadata));
  raise_event(fd_);
}

void FrameQueue::end() noexcept {
  const std::lock_guard lock(mutex_);
  is_gone_ = true;
  raise_event(fd_);
}

int FrameQueue::take(hal_capture_frame& frame) noexcept {
  const std::lock_guard lock(mutex_);
  const bool has_frame = !frames_.empty();
  if (has_frame) {
    const std::size_t size = frame.size;
    frame = frames_.front();
    frame.size = size;
    frames_.pop_front();
  }
  if (frames_.empty() && !is_gone_) drain_event(fd_);
  if (has_frame) return HAL_CAPTURE_OK;
  return is_gone_ ? HAL_CAPTURE_GONE : HAL_CAPTURE_END;
}

}  // namespace halyard::libcamera_plugin
