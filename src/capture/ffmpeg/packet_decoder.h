// SPDX-License-Identifier: Apache-2.0
// PacketDecoder: what turns the packets of a container into images: FFmpeg on the CPU, or a
// hardware codec.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "capture/ffmpeg/ffmpeg.h"
#include "halyard/tensor.h"

namespace halyard::capture {

/// A frame as its decoder returns it.
struct DecodedFrame {
  FramePtr frame;                           ///< of FFmpeg; null: `image` has it
  Tensor image;                             ///< of a hardware codec
  std::int64_t timestamp = AV_NOPTS_VALUE;  ///< in the stream's time base
};

/// What receive() returns: a frame, or why there is none.
struct DecoderAnswer {
  enum class State { frame, needs_packet, end };
  State state = State::needs_packet;
  DecodedFrame decoded;  ///< if state is frame
};

/// Thread-bound. `index`: the number of frames given so far, for messages.
class PacketDecoder {
 public:
  virtual ~PacketDecoder() = default;
  /// Errors: corrupt (the next call continues), cancelled, device, those of its codec.
  virtual Result<DecoderAnswer> receive(std::size_t index) = 0;
  /// Takes the packet's bytes; called after needs_packet. Null: no packet follows. Errors: as
  /// receive().
  virtual Status send(AVPacket* packet, std::size_t index) = 0;
  /// For a seek: drops what it holds. Errors: device.
  virtual Status restart() = 0;
};

}  // namespace halyard::capture

#endif
