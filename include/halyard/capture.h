// SPDX-License-Identifier: Apache-2.0
// Capture: reads a sequence of images from files, folders, videos and cameras, and writes videos.
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
  /// The image in its native format, with the orientation from its file; convert() makes it
  /// upright. An 8-bit video frame whose layout is a PixelFormat stays in the decoder's memory (no
  /// copy) and is read-only, because later frames are predicted from it. Other layouts are copied
  /// into i420, nv16, nv24 (4:2:0, 4:2:2, 4:4:4), grey, rgb or rgba; samples above 8 bits are
  /// rounded to 8. A video's rotation is ignored unless it is a multiple of 90 degrees.
  Tensor image;
  std::string source;     ///< path of the image file, video or camera; "standard input"
  std::size_t index = 0;  ///< from 0 in the whole source; damaged images count
  /// From the file; of a camera since its first frame; of images index / picture_rate.
  std::chrono::nanoseconds timestamp{0};
};

/// Options of FrameSource::open().
struct FrameSourceOptions {
  /// Options of decoding. open() and next() also call load.is_cancelled on the calling thread,
  /// about ten times a second, while a pipe, a server or a camera sends nothing. If it returns
  /// true, they fail with cancelled.
  LoadOptions load;
  double picture_rate = 25;  ///< frames per second of single images, in (0, 1e6]
  /// Max wait for a server's next bytes or a camera's next frame, above 0; afterwards the error is
  /// timeout.
  std::chrono::milliseconds network_timeout{10'000};
};

/// Reads frames. One source serves one thread at a time; the frames are independent of it.
class FrameSource {
 public:
  /// Opens an image file, a folder of images (in natural order of their names: frame9 before
  /// frame10), a video file, or "-" (standard input: an image, a sequence of JPEGs, or a video). A
  /// pipe or a file of JPEGs (.mjpeg) is read like standard input.
  /// Videos: MP4/MOV, Matroska/WebM, AVI, MPEG-TS and -PS, Motion JPEG, FLV, Ogg, ASF, NUT, IVF,
  /// YUV4MPEG, and raw AV1, H.264, HEVC, MPEG-1, -2, -4. Cameras: "/dev/video0", or "camera:0" for
  /// the first of list_cameras(), with default options except latest_only and 8 buffers; each frame
  /// holds one of them (halyard/camera.h). Network addresses: http:// and https:// of
  /// an image or a video, including multipart Motion JPEG; rtsp:// and rtsps:// of a camera.
  /// Messages and Frame::source do not show a user and password in an address. Playlists (HLS,
  /// DASH) and lists of files are malformed, and no other file that a video refers to is opened:
  /// one path, one file. Errors: timeout, cancelled, unsupported (another scheme), not_found,
  /// permission, malformed (neither image nor video), invalid_argument (a folder without images;
  /// options), unsupported (a video's pixel format other than YUV 4:2:0, 4:2:2, 4:4:4, grey and
  /// RGB; a video in a build without FFmpeg, or on a system where it cannot be loaded: the message
  /// names what to install), those of Camera::open(). FFmpeg is loaded when the first video is
  /// opened.
  static Result<FrameSource> open(const std::string& path, const FrameSourceOptions& options = {});
  FrameSource(FrameSource&&) noexcept;
  FrameSource& operator=(FrameSource&&) noexcept;
  ~FrameSource();

  /// Returns the next frame, or nullopt at the end. A damaged image is an error that names its
  /// file; the next call continues with the image after it.
  Result<std::optional<Frame>> next();
  /// Number of frames, if it is known in advance.
  std::optional<std::size_t> frame_count() const noexcept;
  bool is_video() const noexcept;
  /// Frames per second; 0: unknown.
  double rate() const noexcept;

 private:
  struct Impl;
  explicit FrameSource(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// Writes a video file (H.264 if the system's FFmpeg has it, else MPEG-4). The file appears under
/// its name only when finish() succeeds; a writer that is destroyed before that leaves no file.
/// Links and permissions are kept as by OutputFile (halyard/output_file.h); devices and pipes are
/// refused. One writer serves one thread at a time.
///
/// The first image's colorimetry describes the colours of the file. The encoder takes even sizes:
/// for an odd size the last column or row is written twice.
class VideoWriter {
 public:
  /// File name extensions that create() accepts, without the dot; empty in a build without FFmpeg.
  /// Does not load FFmpeg.
  static std::span<const std::string_view> extensions() noexcept;
  /// Creates a writer for images of `size`, `rate` frames per second. The container follows from
  /// the extension, one of extensions(). Errors: invalid_argument (size not 1..16384; rate not
  /// above 0 and at most 1000; the path is a folder, device or pipe), unsupported (extension; build
  /// without FFmpeg; FFmpeg cannot be loaded), permission, not_found, other errors of OutputFile.
  static Result<VideoWriter> create(const std::string& path, Size size, double rate);
  VideoWriter(VideoWriter&&) noexcept;
  VideoWriter& operator=(VideoWriter&&) noexcept;
  ~VideoWriter();

  /// Writes a u8 image of the writer's size, i420 or nv12, as stored. An orientation, the same for
  /// all images, is stored in MP4 and MOV files and is unsupported in others. The image is shared
  /// with the encoder, not copied, and must not be changed until finish(). Errors: invalid_argument
  /// (size), unsupported (format, orientation), os (disk full); after an os error the file cannot
  /// be finished.
  Status write(const Tensor& image);
  /// Completes the file and gives it its name. Errors: os, permission; invalid_argument (no frame
  /// was written).
  Status finish();

 private:
  struct Impl;
  explicit VideoWriter(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
