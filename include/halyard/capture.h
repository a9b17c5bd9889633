// SPDX-License-Identifier: Apache-2.0
// Capture: pictures one after the other from files, folders and videos; and back into videos.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "halyard/codec.h"
#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

namespace halyard HALYARD_PUBLIC {

/// One picture of a source.
struct Frame {
  Tensor image;             ///< in its native format; a video frame is i420 or nv12
  std::string source;       ///< file name, or the video's
  std::size_t index = 0;    ///< from 0 over the whole source
  Orientation orientation;  ///< how to turn it upright
  std::chrono::nanoseconds timestamp{0};  ///< from the file; pictures: index at 25 per second
};

/// Reads frames. One source serves one thread at a time; the frames are independent of it.
class FrameSource {
 public:
  struct Options {
    LoadOptions load;
    double picture_rate = 25;  ///< frames per second given to single pictures
  };
  /// A picture file, a folder of pictures (by name), a video file, or "-" (standard input: a
  /// picture, several JPEGs one after the other, or a video). Errors: not_found, permission,
  /// malformed (no picture or video), invalid_argument (an empty folder), unsupported (a video in a
  /// build without FFmpeg; the message says what to install).
  static Result<FrameSource> open(const std::string& path, const Options& options);
  static Result<FrameSource> open(const std::string& path) { return open(path, Options{}); }
  FrameSource(FrameSource&&) noexcept;
  FrameSource& operator=(FrameSource&&) noexcept;
  ~FrameSource();

  /// The next frame, or nullopt at the end. A damaged picture is an error that names its file; the
  /// next call goes on behind it.
  Result<std::optional<Frame>> next();
  /// Number of frames where it is known beforehand.
  std::optional<std::size_t> frame_count() const noexcept;
  bool is_video() const noexcept;
  /// Frames per second; 0: unknown.
  double rate() const noexcept;

 private:
  struct Impl;
  explicit FrameSource(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// Writes a video file (H.264 where the system's FFmpeg has it, else MPEG-4). The file appears under
/// its name when finish() has succeeded, and not before. One writer serves one thread at a time.
class VideoWriter {
 public:
  /// Errors: invalid_argument (size zero or above 16384, rate), unsupported (build without FFmpeg,
  /// unknown container), permission, not_found.
  static Result<VideoWriter> create(const std::string& path, Size size, double rate);
  VideoWriter(VideoWriter&&) noexcept;
  VideoWriter& operator=(VideoWriter&&) noexcept;
  ~VideoWriter();

  /// A picture of the writer's size, i420 or nv12, full or limited range by its colorimetry.
  /// Errors: invalid_argument (size), unsupported (format), os (disk full).
  Status write(const Tensor& picture);
  Status finish();

 private:
  struct Impl;
  explicit VideoWriter(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard
