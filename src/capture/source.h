// SPDX-License-Identifier: Apache-2.0
// Source: the interface behind FrameSource, with one implementation per mechanism, and the
// functions that open them.
#pragma once

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
  virtual double rate() const noexcept = 0;
};

using SourceResult = Result<std::unique_ptr<Source>>;
using Options = FrameSourceOptions;

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

}  // namespace halyard::capture
