// SPDX-License-Identifier: Apache-2.0
// VideoInput: an opened container with one video stream, from a file, a ByteStream or a server. It
// only demuxes; video_source.cpp decodes.
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

/// FFmpeg reads one descriptor, or one connection, through callbacks. It opens nothing itself
/// (except for RTSP), whatever files a container names. Playlists and lists of files are refused by
/// their kind.
class VideoInput {
 public:
  /// Errors: malformed (not a container, an unsupported kind, no video stream), those of reading.
  static Result<VideoInput> open(const std::string& path);
  static Result<VideoInput> open(ByteStream stream, const std::string& name);
  /// Reads the data that an HTTP server sends. Errors: as above, timeout, cancelled.
  static Result<VideoInput> open(std::unique_ptr<Connection> connection, const std::string& name);
  /// The first video stream of an RTSP server. FFmpeg opens the sockets itself: rtsp, and rtp over
  /// tcp if the server supports it, otherwise over udp. Errors: as above, timeout, cancelled.
  static Result<VideoInput> open_rtsp(const std::string& address, const std::string& name,
                                      const FrameSourceOptions& options);

  /// The next packet of the video stream; false at the end. Errors: corrupt, os. After an error
  /// every call returns false.
  Result<bool> read(AVPacket& packet);
  /// Continues at a key frame at or before `timestamp` (time_base of the stream). Errors: os (the
  /// container has no index or refuses).
  Status seek(std::int64_t timestamp);
  /// Opens the container again at its beginning. Errors: unsupported (a live stream, a pipe), those
  /// of open().
  Status restart();
  /// Its data are sent as they are recorded, and their length is not known.
  bool is_live() const noexcept;
  const AVStream& stream() const noexcept { return *stream_; }
  double rate() const noexcept;
  /// The orientation that makes the frames upright, from the container.
  Orientation orientation() const noexcept;

 private:
  struct Reader;  // FFmpeg's callbacks into a ByteStream
  struct FreeReader {
    void operator()(Reader* reader) const noexcept;
  };
  /// Detects the kind of `io` and opens it.
  Status open_from(AVIOContext* io);
  Status open_container(AVIOContext* io, const AVInputFormat& kind);
  Status finish_opening();
  /// Call it before each call of FFmpeg that may wait for a server.
  void begin_wait() noexcept;
  /// Why such a call failed: for a connection the reason of its Watch, else `otherwise`.
  Error failure(const char* what, int code, Errc otherwise) const;
  Error not_opened(int code) const;

  std::string name_;
  std::unique_ptr<Reader, FreeReader> reader_;  // outlives format_, which reads through it
  std::unique_ptr<Connection> connection_;      // outlives format_ too
  std::shared_ptr<Watch> watch_;                // of a connection; null for a file
  InputPtr format_;
  AVStream* stream_ = nullptr;  // owned by format_
  bool at_end_ = false;
};

struct FrameExtent {
  int width = 0;
  int height = 0;
  int format = AV_PIX_FMT_NONE;  ///< an AVPixelFormat
};

/// Errors: invalid_argument (a limit).
Status check_frame(const FrameExtent& frame, const DecodeLimits& limits, const std::string& name);

/// The frames of an opened video (video_source.cpp). Errors: those of `input`, unsupported (pixel
/// format).
SourceResult video_source(Result<VideoInput> input, const std::string& name,
                          const FrameSourceOptions& options);

}  // namespace halyard::capture

#endif
