// SPDX-License-Identifier: Apache-2.0
// VideoFile: an OutputFile that FFmpeg's muxers write to. FFmpeg itself never opens a file for
// writing. Only built with FFmpeg.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "capture/ffmpeg/ffmpeg.h"
#include "halyard/output_file.h"

namespace halyard::capture {

/// Cannot be moved, because FFmpeg keeps its address. Thread-bound.
class VideoFile {
 public:
  /// Errors: those of OutputFile::create(), invalid_argument (a device or pipe, because muxers seek
  /// back in what they have written), no_memory.
  static Result<std::unique_ptr<VideoFile>> create(const std::string& path);
  VideoFile(const VideoFile&) = delete;
  VideoFile& operator=(const VideoFile&) = delete;
  ~VideoFile();

  /// Lets the muxer write here, and read back what it wrote. The muxer must not be used after this
  /// object is gone.
  void attach(AVFormatContext& muxer);
  /// Errors: those of OutputFile.
  Status commit();

 private:
  explicit VideoFile(OutputFile file) : file_(std::move(file)) {}
  OutputFile file_;
  AVIOContext* io_ = nullptr;
  std::uint64_t size_bytes_ = 0;
  friend struct VideoFileCalls;
};

}  // namespace halyard::capture

#endif
