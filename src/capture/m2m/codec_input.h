// SPDX-License-Identifier: Apache-2.0
// CodecInput: the queue that a codec's driver reads: packets to decode, or images to encode.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/local.h"
#include "capture/v4l2/camera_stream.h"
#include "halyard/tensor.h"

namespace halyard::capture {

/// Thread-bound; leases of buffers may end on any thread.
class HALYARD_LOCAL CodecInput {
 public:
  explicit CodecInput(std::shared_ptr<CameraWait> wait)
      : stream_(std::make_shared<CameraStream>(std::move(wait), true)) {}
  CodecInput(const CodecInput&) = delete;
  CodecInput& operator=(const CodecInput&) = delete;
  ~CodecInput() { stop(); }

  /// Makes buffers of the driver, mapped or exported, and starts the queue.
  Status start(std::unique_ptr<CameraDevice> queue, const DriverFormat& format,
               std::uint32_t buffers, bool must_map);
  /// Makes places for DMA-BUFs of the caller.
  Status start_importing(std::unique_ptr<CameraDevice> queue, const DriverFormat& format,
                         std::uint32_t buffers);
  void stop() noexcept;
  /// Takes all buffers from the driver, which forgets them. Errors: device.
  Status restart();

  /// Takes the buffers back that the driver has read. Errors: device.
  Status reclaim();
  std::optional<std::uint32_t> free_index() const;
  bool is_queued(std::uint32_t index) const { return sent_[index].is_queued; }
  std::uint32_t queued() const noexcept { return queued_; }
  /// Buffers that the driver marked because it could not read them, since the last call.
  std::uint32_t take_refused() noexcept { return std::exchange(refused_, 0); }

  /// Writes a packet into a free buffer and hands it over. Errors: device.
  Status send(std::uint32_t index, std::span<const std::byte> bytes,
              std::chrono::nanoseconds timestamp);
  /// Hands over an image in a buffer of the driver, `held` keeps it until it was read. Errors:
  /// device.
  Status send_own(std::uint32_t index, const Tensor& held, std::chrono::nanoseconds timestamp);
  /// Hands over an image of the caller. Errors: device, unsupported (memory that the driver cannot
  /// reach).
  Status send_imported(std::uint32_t index, const Tensor& held, std::chrono::nanoseconds timestamp);

  CameraStream& stream() const noexcept { return *stream_; }

 private:
  struct Sent {
    std::shared_ptr<void> lease;
    Tensor image;
    bool is_queued = false;
  };
  void note_sent(std::uint32_t index, std::shared_ptr<void> lease, const Tensor& image);
  Result<std::optional<FilledBuffer>> take_read();

  std::shared_ptr<CameraStream> stream_;
  std::unique_ptr<CameraDevice> importing_;  ///< the queue, where it takes buffers of the caller
  DriverFormat format_;
  std::vector<Sent> sent_;
  std::uint32_t queued_ = 0;
  std::uint32_t refused_ = 0;
};

}  // namespace halyard::capture
