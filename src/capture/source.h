// SPDX-License-Identifier: Apache-2.0
// Source: what FrameSource stands on, one implementation per mechanism, and how each is opened.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "capture/network/byte_stream.h"
#include "halyard/capture.h"

namespace halyard::capture {

/// One kind of input. One source serves one thread at a time.
class Source {
 public:
  virtual ~Source() = default;
  /// As FrameSource::next(): after an error the next call goes on behind it.
  virtual Result<std::optional<Frame>> next() = 0;
  virtual std::optional<std::size_t> frame_count() const noexcept { return std::nullopt; }
  virtual bool is_video() const noexcept { return false; }
  virtual double rate() const noexcept = 0;
};

using SourceResult = Result<std::unique_ptr<Source>>;
using Options = FrameSource::Options;

/// The images of a folder in natural order. Errors: invalid_argument (none in it), permission.
SourceResult folder_source(const std::string& path, const Options& options);

/// Sniffs the stream: JPEGs one after the other, another image, else a video. `name` is for
/// messages.
SourceResult stream_source(ByteStream stream, std::string name, const Options& options);

/// A video file, or a video from a stream. Errors: malformed, unsupported (pixel format; build
/// without FFmpeg).
SourceResult video_source(const std::string& path, const Options& options);
SourceResult video_source(ByteStream stream, const std::string& name, const Options& options);

/// What is behind a network address (capture/address.h): an image or video of an HTTP server, an
/// RTSP camera. Errors: as FrameSource::open().
SourceResult address_source(const std::string& address, const Options& options);

}  // namespace halyard::capture
