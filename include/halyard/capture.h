// SPDX-License-Identifier: Apache-2.0
// Capture: images one after the other from files, folders and videos; and back into videos.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/codec.h"
#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// One image of a source.
struct Frame {
  /// In its native format, with the orientation that its file says: convert() turns it upright. A
  /// video frame of 8 bits lies in the decoder's own memory (no copy) where a PixelFormat has its
  /// layout, and is read-only: later frames are predicted from it. Other layouts are copied into
  /// i420, nv16, nv24 (4:2:0, 4:2:2, 4:4:4), grey, rgb or rgba; samples above 8 bits are rounded to
  /// 8. Turns of a video by other than quarter circles are left out.
  Tensor image;
  std::string source;                     ///< path of the file, or the video's; "standard input"
  std::size_t index = 0;                  ///< from 0 over the whole source; damaged images count
  std::chrono::nanoseconds timestamp{0};  ///< from the file; images: index at 25 per second
};

/// Reads frames. One source serves one thread at a time; the frames are independent of it.
class FrameSource {
 public:
  struct Options {
    /// load.is_cancelled is also asked, about ten times a second, while a pipe or a server sends
    /// nothing, by open() and next(), on the thread that calls; then they give the error cancelled.
    LoadOptions load;
    double picture_rate = 25;  ///< frames per second given to single images
    /// The longest wait for a server's next bytes, above 0; then the error is timeout.
    std::chrono::milliseconds network_timeout{10'000};
  };
  /// An image file, a folder of images (in natural order of their names: frame9 before frame10),
  /// a video file, or "-" (standard input: an image, several JPEGs one after the other, or a
  /// video). A pipe or a file of JPEGs (.mjpeg) is read like standard input.
  /// Videos: MP4/MOV, Matroska/WebM, AVI, MPEG-TS and -PS, Motion JPEG, FLV, Ogg, ASF, NUT, IVF,
  /// YUV4MPEG, and raw AV1, H.264, HEVC, MPEG-1, -2, -4. Network addresses: http:// and https:// of
  /// an image or a video, multipart Motion JPEG among them; rtsp:// and rtsps:// of a camera. A
  /// user and password in one are not shown in messages and Frame::source. Playlists (HLS, DASH)
  /// and lists of files are malformed, and of what a video names nothing else is opened: one path,
  /// one file. Errors: timeout, cancelled, unsupported (another scheme), not_found, permission,
  /// malformed (no image or video), invalid_argument (a folder without images; options),
  /// unsupported (a video's pixel format other than YUV of 4:2:0, 4:2:2, 4:4:4, grey and RGB; a
  /// video in a build without FFmpeg, or on a system where it cannot be loaded: the message says
  /// what to install). FFmpeg is loaded when the first video is opened.
  static Result<FrameSource> open(const std::string& path, const Options& options);
  static Result<FrameSource> open(const std::string& path) { return open(path, Options{}); }
  FrameSource(FrameSource&&) noexcept;
  FrameSource& operator=(FrameSource&&) noexcept;
  ~FrameSource();

  /// The next frame, or nullopt at the end. A damaged image is an error that names its file; the
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

/// Writes a video file (H.264 where the system's FFmpeg has it, else MPEG-4). The file appears
/// under its name when finish() has succeeded, and not before; a writer that is destroyed
/// unfinished leaves nothing. Links and permissions are kept as by OutputFile
/// (halyard/output_file.h); devices and pipes are refused. One writer serves one thread at a time.
///
/// Colours are described by the first image's colorimetry. The encoder takes even sizes: of an
/// odd image the last column or row is written twice.
class VideoWriter {
 public:
  /// Extensions of the names that create() takes, without the dot; empty in a build without FFmpeg.
  /// Loads nothing.
  static std::span<const std::string_view> extensions() noexcept;
  /// The container follows the extension: one of extensions(). Errors: invalid_argument (size not
  /// 1..16384; rate not above 0 and at most 1000; the path is a folder, device or pipe),
  /// unsupported (extension; build without FFmpeg; FFmpeg cannot be loaded), permission, not_found,
  /// other errors of OutputFile.
  static Result<VideoWriter> create(const std::string& path, Size size, double rate);
  VideoWriter(VideoWriter&&) noexcept;
  VideoWriter& operator=(VideoWriter&&) noexcept;
  ~VideoWriter();

  /// A u8 image of the writer's size, i420 or nv12, written as stored: an orientation, the same
  /// for all, goes into MP4 and MOV files, and is unsupported in others. It is shared with the
  /// encoder, not copied, and must not be written to until finish(). Errors: invalid_argument
  /// (size), unsupported (format, orientation), os (disk full); after an os error the file cannot
  /// be finished.
  Status write(const Tensor& image);
  /// Errors: os, permission; invalid_argument (no frame was written).
  Status finish();

 private:
  struct Impl;
  explicit VideoWriter(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
