// SPDX-License-Identifier: Apache-2.0
// LiveVideo: the live image as H.264, encoded once for all viewers, while there are any.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "halyard/tensor.h"
#include "halyard/video_stream.h"
#include "serve/http/http_server.h"

namespace halyard::tool {

/// What the page is told.
struct LiveVideoState {
  bool is_available = false;
  std::string encoder;  ///< its name; empty if none is available
  std::string error;    ///< why there is none, or why the last video ended
};

/// state() is thread-safe; the rest is thread-bound.
class LiveVideo {
 public:
  /// `options`: rate is that of the images.
  LiveVideo(HttpServer& server, VideoStreamOptions options);

  /// Whether somebody watches, and an image would be encoded.
  bool is_wanted();
  /// Encodes an image (nv12, upright) that was read at `time`, and sends it to the viewers. An
  /// image of another size begins a new video, and viewers of the last one are disconnected.
  /// Errors of the encoder end the video until all viewers have left.
  void add(const Tensor& image, std::chrono::steady_clock::time_point time);

  LiveVideoState state() const;

 private:
  Status encode(const Tensor& image, std::chrono::nanoseconds time);
  void fail(const Error& error);

  HttpServer& server_;
  VideoStreamOptions options_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::optional<VideoStreamWriter> writer_;
  StreamMessage::Bytes head_;  ///< of the present video
  Size size_;
  std::chrono::nanoseconds last_{-1};
  std::uint64_t arrivals_ = 0;  ///< viewers that the last key frame was for
  bool has_failed_ = false;
  mutable std::mutex mutex_;  // of the member below
  LiveVideoState state_;
};

}  // namespace halyard::tool
