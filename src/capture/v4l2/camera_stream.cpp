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
  const RankedForkLock lock(mutex_);
  if (!lock) return fail(Errc::busy, "camera: another thread held it at fork()");
  device_ = std::move(device);
  ++run_;
  lent_ = 0;
  planes_ = format.planes.size();
  slots_.clear();
  Status done = make_memory(format, buffers, must_map);
  if (done && !is_read_by_driver_ && !fills_made_images()) done = queue_all();
  if (done) done = start_streaming(*device_);
  if (!done) {
    request_buffers(*device_, memory_kind_, 0).has_value();
    slots_.clear();
    device_.reset();
  }
  return done;
}

Status CameraStream::make_memory(const DriverFormat& format, std::uint32_t buffers, bool must_map) {
  if (has_images()) return use_images(format);
  if (make_image_ && !must_map) {
    const Status used = use_made_images(format, buffers);
    if (used || used.error().code != Errc::unsupported) return used;
    slots_.clear();
    lent_ = 0;
    request_buffers(*device_, memory_kind_, 0).has_value();
    must_map = true;  // and the pixels are copied
  }
  return make_slots(format, buffers, must_map);
}

// A driver that exports no buffers is told apart by the first one.
Status CameraStream::make_slots(const DriverFormat& format, std::uint32_t buffers, bool must_map) {
  memory_kind_ = V4L2_MEMORY_MMAP;
  HALYARD_TRY(const std::uint32_t count, request_buffers(*device_, memory_kind_, buffers));
  if (count < 2) return fail(Errc::no_memory, "driver: has no memory for 2 buffers");
  slots_.resize(count);
  buffers_ = count;
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
                  "images: must lie in DMA-BUFs (Memory::dma); for slots of a pool give "
                  "CameraOptions::pool; for other memory copy the frames",
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
  buffers_ = wanted;
  for (std::size_t i = 0; i < images_.size(); ++i) {
    for (std::size_t p = 0; p < planes_; ++p) {
      HALYARD_TRY(const ImagePlane plane, images_[i].image_plane(p));
      slots_[i].planes.push_back({plane.buffer->fd(), plane.buffer->size_bytes()});
    }
  }
  return {};
}

// As many places as there may be, of which `buffers_` are used at a time: see place_for().
Status CameraStream::use_made_images(const DriverFormat& format, std::uint32_t buffers) {
  constexpr std::uint32_t most = 32;  // VIDEO_MAX_FRAME
  memory_kind_ = V4L2_MEMORY_USERPTR;
  format_ = format;
  HALYARD_TRY(buffers_, request_buffers(*device_, memory_kind_, buffers));
  HALYARD_TRY(const std::uint32_t places, request_buffers(*device_, memory_kind_, most));
  slots_.resize(places);
  buffers_ = std::min(buffers_, places);
  lent_ = buffers_;
  while (lent_ > 0)
    HALYARD_RETURN_IF_ERROR(make_image());
  return {};
}

namespace {

// The memory of each plane: up to the next plane or, for the last one, to the end of the buffer.
Result<std::vector<QueuedPlane>> planes_in(const Tensor& image, const TensorMap& map,
                                           const DriverFormat& format) {
  std::vector<QueuedPlane> planes;
  const std::size_t count = format.planes.size();
  for (std::size_t p = 0; p < count; ++p) {
    HALYARD_TRY(const ImagePlane plane, image.image_plane(p));
    std::size_t end = plane.buffer->size_bytes();
    if (p + 1 < count) {
      HALYARD_TRY(const ImagePlane next, image.image_plane(p + 1));
      end = next.offset_bytes;
    }
    const std::size_t size = end - plane.offset_bytes;
    if (plane.stride_bytes != format.planes[p].stride_bytes || size < format.planes[p].size_bytes)
      return fail(Errc::unsupported, "pool: the camera's driver demands other rows or more bytes",
                  "plane {}: {} bytes, not {}", p, format.planes[p].size_bytes, size);
    planes.push_back({.size_bytes = size, .address = map.plane(p).writable});
  }
  return planes;
}

}  // namespace

// The kernel keeps the pages of a place pinned, and pins others where the place gets another
// address, which costs more than a copy. So memory that was used before gets its place again.
std::uint32_t CameraStream::place_for(const std::byte* address) const {
  std::optional<std::uint32_t> unused, used;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].image.is_empty()) continue;
    if (slots_[i].planes.empty()) {
      if (!unused) unused = i;
    } else if (slots_[i].planes[0].address == address) {
      return i;
    } else {
      used = i;
    }
  }
  return unused ? *unused : *used;
}

// Makes an image and hands it to the driver.
Status CameraStream::make_image() {
  HALYARD_TRY(Tensor image, make_image_(format_));
  HALYARD_TRY(TensorMap map, image.map(Access::write));
  HALYARD_TRY(auto planes, planes_in(image, map, format_));
  const std::uint32_t index = place_for(planes[0].address);
  Slot& slot = slots_[index];
  slot.planes = std::move(planes);
  const int failed = queue(index);
  if (failed == EINVAL || failed == EFAULT)
    return fail(Errc::unsupported, "pool: the camera's driver does not write into it", "{}",
                device_->path());
  if (failed != 0) return device_->error("driver: does not take a buffer", failed);
  slot.image = std::move(image);
  slot.map = std::move(map);
  --lent_;
  return {};
}

Status CameraStream::make_missing_images() {
  while (lent_ > 0) {
    const Status made = make_image();
    if (made) continue;
    return made.error().code == Errc::exhausted ? Status() : made;
  }
  return {};
}

Tensor CameraStream::take_image(std::uint32_t index) {
  const RankedForkLock lock(mutex_);
  Slot& slot = slots_[index];
  slot.map = {};
  Tensor image = std::exchange(slot.image, {});
  ++lent_;
  // take() tries again, and has the error.
  make_missing_images().has_value();
  return image;
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
  const RankedForkLock lock(mutex_);
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
    const RankedForkLock lock(mutex_);
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
  if (fills_made_images()) {
    const RankedForkLock lock(mutex_);
    HALYARD_RETURN_IF_ERROR(make_missing_images());
  }
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
  const RankedForkLock lock(mutex_);
  for (std::uint32_t i = 0; lock && i < slots_.size(); ++i)
    if (!slots_[i].is_lent) return i;
  return std::nullopt;
}

std::shared_ptr<void> CameraStream::lend(std::uint32_t index) {
  const RankedForkLock lock(mutex_);
  ++lent_;
  held_.fetch_add(1, std::memory_order_relaxed);
  slots_[index].is_lent = true;
  if (has_images()) is_held_[index] = true;
  return std::make_shared<Lease>(shared_from_this(), slots_[index].memory, index, run_);
}

void CameraStream::give_back(std::uint32_t index, std::uint64_t run) noexcept {
  if (is_forked()) return;
  const RankedForkLock lock(mutex_);
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
  const RankedForkLock lock(mutex_);
  return lock && !slots_.empty() && lent_ == buffers_;
}

}  // namespace halyard::capture
