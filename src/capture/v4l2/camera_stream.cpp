// SPDX-License-Identifier: Apache-2.0
// Buffers between a driver and the frames of the caller.
#include "capture/v4l2/camera_stream.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/format_error.h"
#include "halyard/import.h"

namespace halyard::capture {

/// Ends with the last pointer into a frame's memory.
class HALYARD_LOCAL CameraStream::Lease {
 public:
  Lease(std::shared_ptr<CameraStream> stream, std::shared_ptr<const void> memory,
        std::uint32_t index, std::uint64_t run) noexcept
      : stream_(std::move(stream)), memory_(std::move(memory)), index_(index), run_(run) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() { stream_->give_back(index_, run_); }

 private:
  std::shared_ptr<CameraStream> stream_;
  std::shared_ptr<const void> memory_;  ///< the stream may let go of it before
  std::uint32_t index_;
  std::uint64_t run_;
};

Status CameraStream::start(std::unique_ptr<CameraDevice> device, const DriverFormat& format,
                           std::uint32_t buffers, bool must_map) {
  const ForkLock lock(mutex_);
  if (!lock) return fail(Errc::busy, "camera: another thread held it at fork()");
  device_ = std::move(device);
  ++run_;
  lent_ = 0;
  planes_ = format.planes.size();
  slots_.clear();
  Status done = has_images() ? use_images(format) : make_slots(format, buffers, must_map);
  if (done && !is_read_by_driver_) done = queue_all();
  if (done) done = start_streaming(*device_);
  if (!done) {
    request_buffers(*device_, memory_kind_, 0).has_value();
    slots_.clear();
    device_.reset();
  }
  return done;
}

// A driver that exports no buffers is told apart by the first one.
Status CameraStream::make_slots(const DriverFormat& format, std::uint32_t buffers, bool must_map) {
  memory_kind_ = V4L2_MEMORY_MMAP;
  HALYARD_TRY(const std::uint32_t count, request_buffers(*device_, memory_kind_, buffers));
  if (count < 2) return fail(Errc::no_memory, "driver: has no memory for 2 buffers");
  slots_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    Status exported;
    if (!must_map) exported = export_slot(i, slots_[i]);
    if (!exported && exported.error().code != Errc::unsupported) return exported.error();
    must_map = must_map || !exported;
    if (must_map) {
      HALYARD_TRY(slots_[i].memory->maps, map_buffers(*device_, i, format.planes.size()));
    }
  }
  return {};
}

Status CameraStream::export_slot(std::uint32_t index, Slot& slot) {
  for (std::uint32_t plane = 0; plane < planes_; ++plane) {
    HALYARD_TRY(const Fd fd, export_buffer(*device_, index, plane));
    HALYARD_TRY(auto buffer, Importer::shared().import_buffer(fd.get()));
    slot.memory->buffers.push_back(std::move(buffer));
  }
  return {};
}

namespace {

// The driver writes from the first byte of each buffer on, planes one behind the other where they
// share a buffer.
Status check_placement(const Tensor& image, const DriverFormat& format, std::size_t number) {
  const bool is_whole = format.planes.size() == 1;
  for (std::size_t p = 0; p < (is_whole ? 1 : image.plane_count()); ++p) {
    HALYARD_TRY(const ImagePlane plane, image.image_plane(p));
    if (plane.buffer->fd() < 0)
      return fail(Errc::unsupported,
                  "images: must lie in DMA-BUFs (Memory::dma); for other memory, a slot of a pool "
                  "too, capture into the driver's buffers and copy",
                  "image {} lies in {}", number, to_string(plane.buffer->memory()));
    if (!plane.buffer->is_writable())
      return fail(Errc::permission, "images: the camera must be able to write them", "image {}",
                  number);
    if (plane.offset_bytes != 0)
      return fail(Errc::unsupported, "images: must begin with their buffers",
                  "plane {} of image {} begins at byte {}", p, number, plane.offset_bytes);
    const DriverFormat::Plane& asked = format.planes[p];
    if (plane.stride_bytes != asked.stride_bytes)
      return fail(Errc::unsupported, "images: the camera's driver demands another stride",
                  "plane {} of image {}: {}, not {} bytes", p, number, asked.stride_bytes,
                  plane.stride_bytes);
    if (plane.buffer->size_bytes() < asked.size_bytes)
      return fail(Errc::unsupported, "images: the camera's driver demands larger buffers",
                  "plane {} of image {}: {}, not {} bytes", p, number, asked.size_bytes,
                  plane.buffer->size_bytes());
  }
  if (is_whole && !image.planes_adjacent())
    return fail(Errc::unsupported, "images: their planes must follow one another", "image {}",
                number);
  return {};
}

}  // namespace

Status CameraStream::use_images(const DriverFormat& format) {
  memory_kind_ = V4L2_MEMORY_DMABUF;
  const auto wanted = static_cast<std::uint32_t>(images_.size());
  for (std::size_t i = 0; i < images_.size(); ++i)
    HALYARD_RETURN_IF_ERROR(check_placement(images_[i], format, i));
  HALYARD_TRY(const std::uint32_t count, request_buffers(*device_, memory_kind_, wanted));
  if (count < wanted)
    return fail(Errc::exhausted, "images: the camera's driver takes fewer", "{} of {}", count,
                wanted);
  slots_.resize(images_.size());
  for (std::size_t i = 0; i < images_.size(); ++i) {
    for (std::size_t p = 0; p < planes_; ++p) {
      HALYARD_TRY(const ImagePlane plane, images_[i].image_plane(p));
      slots_[i].planes.push_back({plane.buffer->fd(), plane.buffer->size_bytes()});
    }
  }
  return {};
}

// Images that frames of an earlier run hold come later, by give_back().
Status CameraStream::queue_all() {
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (has_images() && is_held_[i]) {
      ++lent_;
      continue;
    }
    const int failed = queue(i);
    if (failed == EINVAL && has_images())
      return fail(Errc::unsupported, "images: the camera's driver does not take the memory",
                  "image {}, {}", i, to_string(images_[i].memory()));
    if (failed == EFAULT && has_images())
      return fail(Errc::unsupported,
                  "images: the camera's driver cannot reach the memory; some take contiguous only",
                  "image {}", i);
    if (failed != 0) return device_->error("driver: does not take a buffer", failed);
  }
  return {};
}

Status CameraStream::restart() {
  const ForkLock lock(mutex_);
  if (!lock) return fail(Errc::busy, "camera: another thread held it at fork()");
  stop_streaming(*device_);
  for (std::uint32_t i = 0; i < slots_.size() && !is_read_by_driver_; ++i) {
    if (slots_[i].is_lent) continue;
    if (const int failed = queue(i); failed != 0)
      return device_->error("driver: does not take a buffer", failed);
  }
  return start_streaming(*device_);
}

int CameraStream::queue(std::uint32_t index) const {
  return queue_buffer(*device_, memory_kind_, index, planes_, slots_[index].planes);
}

void CameraStream::stop() noexcept {
  std::shared_ptr<const CameraDevice> ended;
  std::vector<Slot> slots;
  {
    const ForkLock lock(mutex_);
    if (!lock) return;
    ended = std::move(device_);
    slots.swap(slots_);
  }
  // A child has the parent's stream open, and leaves it alone.
  if (ended == nullptr || is_forked()) return;
  stop_streaming(*ended);
  slots.clear();
  // Drivers before Linux 5.0 refuse while frames hold exported buffers; close() releases them then.
  request_buffers(*ended, memory_kind_, 0).has_value();
}

Result<std::optional<FilledBuffer>> CameraStream::take() {
  HALYARD_TRY(auto filled, dequeue_buffer(*device_, memory_kind_, planes_));
  if (filled && filled->index >= slots_.size())
    return fail(Errc::device, "driver: returns a buffer that does not exist", "{}", filled->index);
  return filled;
}

Status CameraStream::put_back(std::uint32_t index) {
  const int failed = queue(index);
  if (failed != 0) return device_->error("driver: does not take a buffer", failed);
  return {};
}

Status CameraStream::submit(std::uint32_t index, std::span<const std::size_t> used_bytes,
                            std::chrono::nanoseconds timestamp) {
  std::array<QueuedPlane, VIDEO_MAX_PLANES> planes{};
  const std::size_t count = std::min(planes_, std::min(planes.size(), used_bytes.size()));
  for (std::size_t i = 0; i < count; ++i)
    planes[i].used_bytes = used_bytes[i];
  const int failed = queue_buffer(*device_, memory_kind_, index, planes_,
                                  std::span(planes).first(count), timestamp);
  if (failed != 0) return device_->error("driver: does not take a buffer", failed);
  return {};
}

std::optional<std::uint32_t> CameraStream::free_index() const {
  const ForkLock lock(mutex_);
  for (std::uint32_t i = 0; lock && i < slots_.size(); ++i)
    if (!slots_[i].is_lent) return i;
  return std::nullopt;
}

std::shared_ptr<void> CameraStream::lend(std::uint32_t index) {
  const ForkLock lock(mutex_);
  ++lent_;
  held_.fetch_add(1, std::memory_order_relaxed);
  slots_[index].is_lent = true;
  if (has_images()) is_held_[index] = true;
  return std::make_shared<Lease>(shared_from_this(), slots_[index].memory, index, run_);
}

void CameraStream::give_back(std::uint32_t index, std::uint64_t run) noexcept {
  if (is_forked()) return;
  const ForkLock lock(mutex_);
  if (!lock) return;
  held_.fetch_sub(1, std::memory_order_relaxed);
  if (has_images()) is_held_[index] = false;
  const bool is_of_this_run = run == run_ || has_images();
  if (device_ == nullptr || !is_of_this_run) return;
  --lent_;
  slots_[index].is_lent = false;
  // A failure means that the device is gone; next() finds the same.
  if (!is_read_by_driver_) queue(index);
  if (wait_ != nullptr) wait_->wake();
}

bool CameraStream::is_starved() const noexcept {
  const ForkLock lock(mutex_);
  return lock && !slots_.empty() && lent_ == slots_.size();
}

}  // namespace halyard::capture
