// SPDX-License-Identifier: Apache-2.0
// Calls to a queue of buffers of a camera or a codec.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "capture/v4l2/camera_device.h"
#include "halyard/fd.h"

namespace halyard::capture {

/// A buffer that the driver has filled.
struct FilledBuffer {
  std::uint32_t index = 0;
  std::uint32_t sequence = 0;
  std::chrono::nanoseconds timestamp{0};  ///< CLOCK_MONOTONIC; of a codec as it was handed in
  std::uint32_t flags = 0;                ///< V4L2_BUF_FLAG_*
  bool is_damaged = false;                ///< the driver marks it
  /// For each memory plane: where the pixels begin, and where the driver's bytes end.
  std::array<std::size_t, VIDEO_MAX_PLANES> offset_bytes{};
  std::array<std::size_t, VIDEO_MAX_PLANES> end_bytes{};
};

/// Makes buffers of the driver (V4L2_MEMORY_MMAP) or places for those of others
/// (V4L2_MEMORY_DMABUF, V4L2_MEMORY_USERPTR); returns their count, which the driver may raise. 0
/// releases all. Errors: unsupported (the driver takes no buffers of others), device.
Result<std::uint32_t> request_buffers(const CameraDevice& device, std::uint32_t memory,
                                      std::uint32_t count);
/// A DMA-BUF of one memory plane of a buffer. Errors: unsupported (the driver cannot).
Result<Fd> export_buffer(const CameraDevice& device, std::uint32_t index, std::uint32_t plane);
/// The driver's own memory of all planes of a buffer.
Result<std::vector<MappedMemory>> map_buffers(const CameraDevice& device, std::uint32_t index,
                                              std::size_t planes);
/// Hands a buffer to the driver. `given`: the memory of each plane, with the sizes; empty for the
/// driver's own, unless it reads them. `timestamp` is of what a codec reads. Returns 0 or the
/// errno.
struct QueuedPlane {
  int fd = -1;  ///< a DMA-BUF
  std::size_t size_bytes = 0;
  std::size_t used_bytes = 0;    ///< for the driver to read
  std::byte* address = nullptr;  ///< memory of this process instead (V4L2_MEMORY_USERPTR)
};
int queue_buffer(const CameraDevice& device, std::uint32_t memory, std::uint32_t index,
                 std::size_t planes, std::span<const QueuedPlane> given,
                 std::chrono::nanoseconds timestamp = {});
/// Takes a filled buffer; nullopt: there is none yet. Errors: device.
Result<std::optional<FilledBuffer>> dequeue_buffer(const CameraDevice& device, std::uint32_t memory,
                                                   std::size_t planes);
Status start_streaming(const CameraDevice& device);
void stop_streaming(const CameraDevice& device) noexcept;

}  // namespace halyard::capture
