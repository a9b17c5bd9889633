// SPDX-License-Identifier: Apache-2.0
// Buffers that a codec reads.
#include "capture/m2m/codec_input.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text/format_error.h"

namespace halyard::capture {

Status CodecInput::start(std::unique_ptr<CameraDevice> queue, const DriverFormat& format,
                         std::uint32_t buffers, bool must_map) {
  format_ = format;
  HALYARD_RETURN_IF_ERROR(stream_->start(std::move(queue), format, buffers, must_map));
  sent_.assign(stream_->buffer_count(), {});
  return {};
}

Status CodecInput::start_importing(std::unique_ptr<CameraDevice> queue, const DriverFormat& format,
                                   std::uint32_t buffers) {
  format_ = format;
  HALYARD_TRY(const std::uint32_t count, request_buffers(*queue, V4L2_MEMORY_DMABUF, buffers));
  HALYARD_RETURN_IF_ERROR(start_streaming(*queue));
  importing_ = std::move(queue);
  sent_.assign(count, {});
  return {};
}

void CodecInput::stop() noexcept {
  stream_->stop();
  if (importing_ != nullptr) {
    stop_streaming(*importing_);
    request_buffers(*importing_, V4L2_MEMORY_DMABUF, 0).has_value();
  }
  importing_.reset();
  sent_.clear();
  queued_ = 0;
}

Status CodecInput::restart() {
  if (importing_ != nullptr) {
    stop_streaming(*importing_);
    HALYARD_RETURN_IF_ERROR(start_streaming(*importing_));
  } else if (stream_->is_running()) {
    HALYARD_RETURN_IF_ERROR(stream_->restart());
  }
  std::fill(sent_.begin(), sent_.end(), Sent());
  queued_ = 0;
  return {};
}

Result<std::optional<FilledBuffer>> CodecInput::take_read() {
  if (importing_ != nullptr)
    return dequeue_buffer(*importing_, V4L2_MEMORY_DMABUF, format_.planes.size());
  return stream_->take();
}

Status CodecInput::reclaim() {
  while (queued_ > 0) {
    HALYARD_TRY(const auto read, take_read());
    if (!read) break;
    if (read->index >= sent_.size() || !sent_[read->index].is_queued)
      return fail(Errc::device, "driver: returns a buffer that it does not have", "{}",
                  read->index);
    sent_[read->index] = Sent();
    --queued_;
    if (read->is_damaged) ++refused_;
  }
  return {};
}

std::optional<std::uint32_t> CodecInput::free_index() const {
  if (importing_ == nullptr) return stream_->free_index();
  for (std::uint32_t i = 0; i < sent_.size(); ++i)
    if (!sent_[i].is_queued) return i;
  return std::nullopt;
}

void CodecInput::note_sent(std::uint32_t index, std::shared_ptr<void> lease, const Tensor& image) {
  sent_[index] = {std::move(lease), image, true};
  ++queued_;
}

Status CodecInput::send(std::uint32_t index, std::span<const std::byte> bytes,
                        std::chrono::nanoseconds timestamp) {
  auto lease = stream_->lend(index);
  const std::span<std::byte> room = stream_->maps(index).at(0).bytes();
  if (bytes.size() > room.size())
    return fail(Errc::exhausted, "packet: larger than a buffer, VideoDecoderOptions::packet_bytes",
                "{} bytes, not at most {}", bytes.size(), room.size());
  std::memcpy(room.data(), bytes.data(), bytes.size());
  const std::array<std::size_t, 1> used{bytes.size()};
  HALYARD_RETURN_IF_ERROR(stream_->submit(index, used, timestamp));
  note_sent(index, std::move(lease), Tensor());
  return {};
}

Status CodecInput::send_own(std::uint32_t index, const Tensor& held,
                            std::chrono::nanoseconds timestamp) {
  std::array<std::size_t, VIDEO_MAX_PLANES> used{};
  for (std::size_t i = 0; i < format_.planes.size(); ++i)
    used[i] = format_.planes[i].size_bytes;
  HALYARD_RETURN_IF_ERROR(
      stream_->submit(index, std::span(used).first(format_.planes.size()), timestamp));
  note_sent(index, nullptr, held);
  return {};
}

Status CodecInput::send_imported(std::uint32_t index, const Tensor& held,
                                 std::chrono::nanoseconds timestamp) {
  std::array<QueuedPlane, VIDEO_MAX_PLANES> planes{};
  const std::size_t count = std::min(format_.planes.size(), planes.size());
  for (std::size_t i = 0; i < count; ++i) {
    HALYARD_TRY(const ImagePlane plane, held.image_plane(i));
    planes[i] = {plane.buffer->fd(), plane.buffer->size_bytes(), format_.planes[i].size_bytes};
  }
  const int failed = queue_buffer(*importing_, V4L2_MEMORY_DMABUF, index, count,
                                  std::span(planes).first(count), timestamp);
  if (failed == EINVAL || failed == EFAULT)
    return fail(Errc::unsupported,
                "image: the driver cannot reach its memory; some take contiguous memory only", "{}",
                to_string(held.memory()));
  if (failed != 0) return importing_->error("driver: does not take a buffer", failed);
  note_sent(index, nullptr, held);
  return {};
}

}  // namespace halyard::capture
