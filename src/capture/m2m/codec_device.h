// SPDX-License-Identifier: Apache-2.0
// A codec's node: found by what it codes, its commands, its events and its rectangles.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "capture/v4l2/camera_device.h"
#include "capture/v4l2/camera_stream.h"
#include "capture/v4l2/camera_wait.h"
#include "halyard/geometry.h"
#include "halyard/video_codec.h"

namespace halyard::capture {

/// A node and the code that it uses for the codec.
struct CodecNode {
  std::unique_ptr<CameraDevice> device;  ///< the queue that the driver fills
  std::uint32_t fourcc = 0;
};
/// `path` empty: the first node that codes `codec`. Errors: as VideoDecoder::open().
Result<CodecNode> open_codec_node(const std::string& path, VideoCodec codec, bool is_encoder);

/// Ends a stream (true) or begins again after its end. Errors: those of codec_error().
Status command_codec(const CameraDevice& device, bool is_encoder, bool is_stop);
/// Asks for the events of the driver.
void subscribe_changes(const CameraDevice& device);
/// Takes all events that wait; whether one tells that the stream changes its format.
bool take_changes(const CameraDevice& device);
/// The part of a decoder's frame that is to be shown; the whole frame where the driver tells none.
Region visible_part(const CameraDevice& queue, const DriverFormat& format);
/// The number of buffers that a driver needs for itself.
std::uint32_t needed_buffers(const CameraDevice& device, std::uint32_t control);

/// `process`: the fork_generation() that opened the codec. Errors: unsupported (a child of fork()).
Status check_codec_process(std::uint32_t process);
/// Why a call waited in vain. `held_all`: the caller holds all buffers of `stream`; null: it does
/// not.
Error codec_late(const std::string& path, std::chrono::milliseconds timeout,
                 const CameraStream& stream, const char* held_all);

/// The wait of a call: for a device that has work, for a buffer that comes back, for cancel().
class HALYARD_LOCAL CodecWait {
 public:
  CodecWait(CameraWait& wait, std::chrono::milliseconds timeout);
  bool is_over() const noexcept;
  /// `has_work`: the driver has buffers, so that it may end them. Errors: cancelled, device, os.
  Status sleep(const CameraDevice& device, bool has_work);

 private:
  CameraWait& wait_;
  bool is_endless_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace halyard::capture
