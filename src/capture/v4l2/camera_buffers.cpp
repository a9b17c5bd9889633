// SPDX-License-Identifier: Apache-2.0
// VIDIOC_REQBUFS, QUERYBUF, EXPBUF, QBUF, DQBUF, STREAMON and STREAMOFF.
#include "capture/v4l2/camera_buffers.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/text/format_error.h"

namespace halyard::capture {
namespace {

// A buffer of either API as the calls take it. Points into itself.
struct BufferCall {
  v4l2_buffer buffer{};
  std::array<v4l2_plane, VIDEO_MAX_PLANES> planes{};
  BufferCall(const CameraDevice& device, std::uint32_t memory, std::uint32_t index,
             std::size_t plane_count) {
    buffer.type = device.type();
    buffer.memory = memory;
    buffer.index = index;
    if (!device.is_multiplanar()) return;
    buffer.m.planes = planes.data();
    buffer.length = static_cast<std::uint32_t>(plane_count);
  }
  BufferCall(const BufferCall&) = delete;
  BufferCall& operator=(const BufferCall&) = delete;
};

std::chrono::nanoseconds time_of(const v4l2_buffer& buffer, bool is_codec) {
  const bool is_monotonic = (buffer.flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) ==
                            static_cast<std::uint32_t>(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC);
  if (!is_monotonic && !is_codec) return std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::seconds(buffer.timestamp.tv_sec) +
         std::chrono::microseconds(buffer.timestamp.tv_usec);
}

}  // namespace

Result<std::uint32_t> request_buffers(const CameraDevice& device, std::uint32_t memory,
                                      std::uint32_t count) {
  v4l2_requestbuffers request{};
  request.count = count;
  request.type = device.type();
  request.memory = memory;
  const int failed = device.call(VIDIOC_REQBUFS, &request);
  if (failed == EINVAL && memory != V4L2_MEMORY_MMAP)
    return fail(Errc::unsupported, "images: the driver takes no buffers of others", "{}",
                device.path());
  if (failed != 0) return device.error("driver: refuses to make buffers", failed);
  return request.count;
}

Result<Fd> export_buffer(const CameraDevice& device, std::uint32_t index, std::uint32_t plane) {
  v4l2_exportbuffer request{};
  request.type = device.type();
  request.index = index;
  request.plane = plane;
  request.flags = O_RDWR | O_CLOEXEC;
  const int failed = device.call(VIDIOC_EXPBUF, &request);
  if (failed == EINVAL || failed == ENOTTY)
    return fail(Errc::unsupported, "driver: exports no buffers", "{}", device.path());
  if (failed != 0) return device.error("driver: refuses to export", failed);
  return Fd(request.fd);
}

Result<std::vector<MappedMemory>> map_buffers(const CameraDevice& device, std::uint32_t index,
                                              std::size_t planes) {
  BufferCall where(device, V4L2_MEMORY_MMAP, index, planes);
  if (const int failed = device.call(VIDIOC_QUERYBUF, &where.buffer); failed != 0)
    return device.error("driver: tells no place of a buffer", failed);
  std::vector<MappedMemory> maps;
  for (std::size_t i = 0; i < planes; ++i) {
    const bool is_multi = device.is_multiplanar();
    const std::size_t offset = is_multi ? where.planes[i].m.mem_offset : where.buffer.m.offset;
    const std::size_t size = is_multi ? where.planes[i].length : where.buffer.length;
    HALYARD_TRY(MappedMemory map,
                device.calls().map_buffer(device.fd(), offset, size, device.is_read_by_driver()));
    maps.push_back(std::move(map));
  }
  return maps;
}

int queue_buffer(const CameraDevice& device, std::uint32_t memory, std::uint32_t index,
                 std::size_t planes, std::span<const QueuedPlane> given,
                 std::chrono::nanoseconds timestamp) {
  BufferCall handed(device, memory, index, planes);
  const auto whole = std::chrono::floor<std::chrono::seconds>(timestamp);
  handed.buffer.field = V4L2_FIELD_NONE;
  handed.buffer.timestamp.tv_sec = whole.count();
  handed.buffer.timestamp.tv_usec = (timestamp - whole) / std::chrono::microseconds(1);
  // Both structures name the members alike.
  const auto put = [memory](auto& plane, const QueuedPlane& from) {
    if (memory == V4L2_MEMORY_USERPTR)
      plane.m.userptr = reinterpret_cast<unsigned long>(from.address);
    else
      plane.m.fd = from.fd;
    plane.length = static_cast<std::uint32_t>(from.size_bytes);
    plane.bytesused = static_cast<std::uint32_t>(from.used_bytes);
  };
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (device.is_multiplanar())
      put(handed.planes[i], given[i]);
    else
      put(handed.buffer, given[i]);
  }
  return device.call(VIDIOC_QBUF, &handed.buffer);
}

Result<std::optional<FilledBuffer>> dequeue_buffer(const CameraDevice& device, std::uint32_t memory,
                                                   std::size_t planes) {
  BufferCall got(device, memory, 0, planes);
  const int failed = device.call(VIDIOC_DQBUF, &got.buffer);
  if (failed == EAGAIN) return std::optional<FilledBuffer>();
  if (failed == EINVAL)
    return make_error(Errc::device, "driver: its stream was stopped", device.path(), EPIPE);
  if (failed != 0) return device.error("driver: gives no buffer", failed);
  FilledBuffer filled;
  filled.index = got.buffer.index;
  filled.sequence = got.buffer.sequence;
  filled.timestamp = time_of(got.buffer, device.is_codec());
  filled.flags = got.buffer.flags;
  filled.is_damaged = (got.buffer.flags & V4L2_BUF_FLAG_ERROR) != 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(planes, VIDEO_MAX_PLANES); ++i) {
    filled.offset_bytes[i] = device.is_multiplanar() ? got.planes[i].data_offset : 0;
    filled.end_bytes[i] = device.is_multiplanar() ? got.planes[i].bytesused : got.buffer.bytesused;
  }
  return std::optional(filled);
}

Status start_streaming(const CameraDevice& device) {
  auto type = static_cast<int>(device.type());
  const int failed = device.call(VIDIOC_STREAMON, &type);
  if (failed != 0) return device.error("driver: does not start", failed);
  return {};
}

void stop_streaming(const CameraDevice& device) noexcept {
  auto type = static_cast<int>(device.type());
  device.call(VIDIOC_STREAMOFF, &type);
}

}  // namespace halyard::capture
