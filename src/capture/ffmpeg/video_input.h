// SPDX-License-Identifier: Apache-2.0
// VideoInput: an opened container with its one video stream, from a file or from a ByteStream.
// Demuxing only; decoding: video_source.cpp.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <memory>
#include <optional>
#include <string>

#include "capture/ffmpeg/ffmpeg.h"
#include "capture/network/byte_stream.h"
#include "capture/network/connection.h"
#include "halyard/codec.h"

namespace halyard::capture {

/// FFmpeg reads the one descriptor, or the one connection, through callbacks and opens nothing
/// itself (but for RTSP): no file that a container names, whatever the name is. Playlists, and
/// lists of files, are refused by their kind.
class VideoInput {
 public:
  /// Errors: malformed (no container, one that is not read, no video stream), those of reading.
  static Result<VideoInput> open(const std::string& path);
  static Result<VideoInput> open(ByteStream stream, const std::string& name);
  /// What an HTTP server sends. Errors: those and timeout, cancelled.
  static Result<VideoInput> open(std::unique_ptr<Connection> connection, const std::string& name);
  /// The first video stream of an RTSP server. FFmpeg opens its sockets itself: rtsp, and rtp over
  /// tcp where the server has it, else over udp. Errors: those and timeout, cancelled.
  static Result<VideoInput> open_rtsp(const std::string& address, const std::string& name,
                                      const FrameSource::Options& options);

  /// The next packet of the video stream; false at the end. Errors: corrupt, os. After an error the
  /// input is at its end.
  Result<bool> read(AVPacket& packet);
  const AVStream& stream() const noexcept { return *stream_; }
  double rate() const noexcept;
  /// What shows the images upright, as the container says.
  Orientation orientation() const noexcept;

 private:
  struct Reader;  // their callbacks into a ByteStream
  struct FreeReader {
    void operator()(Reader* reader) const noexcept;
  };
  /// Finds out what `io` gives, and opens it.
  Status open_from(AVIOContext* io);
  Status open_container(AVIOContext* io, const AVInputFormat& kind);
  Status finish_opening();
  /// Before each call of FFmpeg that may wait for a server.
  void begin_wait() noexcept;
  /// Why such a call failed: of a connection what its Watch says, else `otherwise`.
  Error failure(const char* what, int code, Errc otherwise) const;
  Error not_opened(int code) const;

  std::string name_;
  std::unique_ptr<Reader, FreeReader> reader_;  // outlives format_, which reads through it
  std::unique_ptr<Connection> connection_;      // the same
  std::shared_ptr<Watch> watch_;                // of a connection; null: a file
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

/// Frames of an opened video; video_source.cpp. Errors: those of `input`, unsupported (pixel
/// format).
SourceResult video_source(Result<VideoInput> input, const std::string& name,
                          const FrameSource::Options& options);

/// A decoder of the stream, opened, with `limits` in force. Errors: unsupported (no decoder in this
/// FFmpeg), invalid_argument (limits), malformed.
Result<CodecPtr> open_decoder(const AVStream& stream, const DecodeLimits& limits,
                              const std::string& name);

}  // namespace halyard::capture

#endif
