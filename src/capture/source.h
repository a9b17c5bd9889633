// SPDX-License-Identifier: Apache-2.0
// Source: the interface behind FrameSource, with one implementation per mechanism, and the
// functions that open them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "capture/network/byte_stream.h"
#include "halyard/capture.h"

namespace halyard::capture {

/// One kind of input. Only one thread at a time may use a source.
class Source {
 public:
  virtual ~Source() = default;
  /// As FrameSource::next(): after an error the next call continues after the damaged frame.
  virtual Result<std::optional<Frame>> next() = 0;
  virtual std::optional<std::size_t> frame_count() const noexcept { return std::nullopt; }
  virtual bool is_video() const noexcept { return false; }
  virtual bool is_live() const noexcept { return false; }
  /// As FrameSource::seek(); `time` is not negative.
  virtual Status seek(std::chrono::nanoseconds) {
    return make_error(Errc::unsupported,
                      "source: a camera, a live stream or a pipe cannot be read again");
  }
  virtual std::size_t reconnect_count() const noexcept { return 0; }
  virtual double rate() const noexcept = 0;
};

using SourceResult = Result<std::unique_ptr<Source>>;
using Options = FrameSourceOptions;
/// Opens one source, each time from its beginning.
using OpenSource = std::function<SourceResult()>;

/// The images of a folder in natural order. Errors: invalid_argument (no image in it), permission.
SourceResult folder_source(const std::string& path, const Options& options);

/// Recognizes the stream by its content: consecutive JPEGs, another image, or a video. `name` is
/// used in messages.
SourceResult stream_source(ByteStream stream, std::string name, const Options& options);

/// A video file, or a video from a stream. Errors: malformed, unsupported (pixel format; build
/// without FFmpeg).
SourceResult video_source(const std::string& path, const Options& options);
SourceResult video_source(ByteStream stream, const std::string& name, const Options& options);

/// The source at a network address (capture/network/address.h): an image or video of an HTTP
/// server, or an RTSP camera. Errors: as FrameSource::open().
SourceResult address_source(const std::string& address, const Options& options);

/// `source`, which begins again after its last frame. It can seek.
std::unique_ptr<Source> looped_source(std::unique_ptr<Source> source);
/// `source`, whose next() waits until the frame is due. It is not live.
std::unique_ptr<Source> paced_source(std::unique_ptr<Source> source, const Options& options);
/// The source that `open` makes, which is opened again when it is lost; `name` is used in messages.
/// options.reconnect is set. A source that is not live is returned as it is. Errors: those of
/// `open` and cancelled.
SourceResult reconnecting_source(OpenSource open, const std::string& name, const Options& options);

}  // namespace halyard::capture
