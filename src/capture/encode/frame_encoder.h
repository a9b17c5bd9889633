// SPDX-License-Identifier: Apache-2.0
// FrameEncoder: turns frames into the packets of one stream. FFmpeg's encoders, and openh264.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <memory>
#include <string>

#include "capture/encode/encoder_frame.h"
#include "capture/ffmpeg/ffmpeg.h"
#include "halyard/capture.h"

namespace halyard::capture {

/// What the frames are and what the container needs.
struct EncoderRequest {
  std::string path;  ///< the file or what else messages name
  int width = 0;     ///< even
  int height = 0;    ///< even
  bool prefers_nv12 = false;
  Colorimetry colorimetry;
  AVRational time_base{1, 25};  ///< of frames and packets
  AVRational rate{25, 1};       ///< frames per second
  bool has_global_header = false;
  bool has_display_order = false;  ///< packets must be in the order of the frames
  bool is_live = false;            ///< each frame gives its packet at once
  VideoWriterOptions options;
};

/// For images like `first`: its size, made even, its format and its colours.
EncoderRequest request_for(const Tensor& first);

/// One stream. One thread at a time.
class FrameEncoder {
 public:
  virtual ~FrameEncoder() = default;
  virtual EncoderInput input() const noexcept = 0;
  /// Errors: no_memory, os.
  virtual Status describe(AVCodecParameters& parameters) const = 0;
  /// Encodes a frame of input() with its pts, as a key frame if its pict_type is I; null: no more
  /// frames follow. Errors: os.
  virtual Status send(const AVFrame* frame) = 0;
  /// The next packet; false: the encoder needs another frame, or all packets are out. Errors: os.
  virtual Result<bool> receive(AVPacket& packet) = 0;
};

/// The encoder that options.encoder names, or the first of libx264, openh264 and mpeg4 that is
/// there. Errors: unsupported (none, or not that one: the message names what to install).
Result<std::string> choose_encoder(const std::string& wanted);
/// The same for H.264, by libx264 or openh264.
Result<std::string> choose_h264_encoder(const std::string& wanted);
/// `encoder`: of the two above. Errors: unsupported (size or pixel format), no_memory, os.
Result<std::unique_ptr<FrameEncoder>> open_encoder(const std::string& encoder,
                                                   const EncoderRequest& request);

}  // namespace halyard::capture

#endif
