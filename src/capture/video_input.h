// SPDX-License-Identifier: Apache-2.0
// VideoInput: an opened container with its one video stream, from a file or from a ByteStream.
// Demuxing only; decoding: video_source.cpp.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <memory>
#include <optional>
#include <string>

#include "capture/byte_stream.h"
#include "capture/ffmpeg.h"
#include "halyard/codec.h"

namespace halyard::capture {

/// FFmpeg reads the one descriptor through callbacks and opens nothing itself: no file that a
/// container names, whatever the name is. Playlists, and lists of files, are refused by their kind.
class VideoInput {
 public:
  /// Errors: malformed (no container, one that is not read, no video stream), those of reading.
  static Result<VideoInput> open(const std::string& path);
  static Result<VideoInput> open(ByteStream stream, const std::string& name);

  /// The next packet of the video stream; false at the end. Errors: corrupt, os. After an error the
  /// input is at its end.
  Result<bool> read(AVPacket& packet);
  const AVStream& stream() const noexcept { return *stream_; }
  double rate() const noexcept;
  /// What shows the pictures upright, as the container says.
  Orientation orientation() const noexcept;

 private:
  struct Reader;  // their callbacks into a ByteStream
  struct FreeReader {
    void operator()(Reader* reader) const noexcept;
  };
  Status open_container(const AVInputFormat& kind);
  Status finish_opening();

  std::string name_;
  std::unique_ptr<Reader, FreeReader> reader_;  // outlives format_, which reads through it
  InputPtr format_;
  AVStream* stream_ = nullptr;  // format_'s
  bool at_end_ = false;
};

struct FrameExtent {
  int width = 0;
  int height = 0;
  int format = AV_PIX_FMT_NONE;  ///< an AVPixelFormat
};

/// Errors: invalid_argument (a limit).
Status check_frame(const FrameExtent& frame, const DecodeLimits& limits, const std::string& name);

/// A decoder of the stream, opened, with `limits` in force. Errors: unsupported (no decoder in this
/// FFmpeg), invalid_argument (limits), malformed.
Result<CodecPtr> open_decoder(const AVStream& stream, const DecodeLimits& limits,
                              const std::string& name);

}  // namespace halyard::capture

#endif
