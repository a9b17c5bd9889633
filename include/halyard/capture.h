// SPDX-License-Identifier: Apache-2.0
// Capture: reads a sequence of images from files, folders, videos and cameras, and writes videos.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
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
  std::string source;  ///< path of the image file, video or camera; "standard input"
  /// From 0 in the whole source; damaged images count. It grows on when a source loops or was
  /// connected again. After seek() in a video: timestamp * rate(), rounded.
  std::size_t index = 0;
  /// From the file; of a camera since its first frame; of images index / picture_rate. It grows on
  /// as the index does.
  std::chrono::nanoseconds timestamp{0};
};

/// How a lost camera or server is opened again.
struct ReconnectOptions {
  /// Wait before the second attempt, above 0. The first is made at once, or after this wait if the
  /// connection lasted less. Each later wait is twice the one before.
  std::chrono::milliseconds first_wait{500};
  std::chrono::milliseconds max_wait{10'000};  ///< at least first_wait
  /// Attempts that may fail in a row; then open() or next() returns the last error. 0: no limit.
  std::size_t max_attempts = 0;
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
  /// Speed at which files are played: next() waits until the frame's timestamp is due. 1: their own
  /// rate; 2: twice that; up to 1e3. 0: next() does not wait. It has no effect on cameras and live
  /// streams, nor have the next two.
  double speed = 0;
  /// A file, folder or video begins again after its last frame, until a pass has no frame.
  bool loops = false;
  /// Time of the first frame, as by seek(); 0: the beginning.
  std::chrono::nanoseconds start{0};
  /// Opens cameras and servers again when they are lost: unplugged, silent for network_timeout, or
  /// a live stream that ends. open() itself retries a server that is not reachable and a camera
  /// that is busy; a camera or an address that does not exist, a refused password and a stream that
  /// nobody can read are errors at once. Each failure is logged (warn). Unset: a loss is an error
  /// of next().
  std::optional<ReconnectOptions> reconnect = std::nullopt;
  /// What decodes videos. "" and "cpu": FFmpeg on the CPU. "v4l2": the first hardware codec of
  /// list_video_codecs() that decodes the video; "/dev/video10": this one. Their images lie in the
  /// driver's buffers, without a copy, and frames may hold 8 of them: with more, next() waits for
  /// one to be released, network_timeout at most, and fails with exhausted. "auto": as "v4l2", and
  /// the CPU where that fails; the reason is logged (info).
  std::string video_decoder = {};
};

/// Waits until frames are due by their timestamps, as a player does. One thread at a time.
class FramePacer {
 public:
  /// `speed`: as FrameSourceOptions::speed, above 0.
  explicit FramePacer(double speed = 1) noexcept : speed_(speed) {}
  /// Waits until `timestamp` is due; false if `is_cancelled`, which is called about 50 times a
  /// second, returned true. The first call starts the clock. A frame that is more than a second
  /// late, or earlier than the one before it, starts the clock again: a slow caller gets no burst
  /// of frames.
  bool wait(std::chrono::nanoseconds timestamp, const std::function<bool()>& is_cancelled = {});
  /// The next call of wait() starts the clock again.
  void restart() noexcept { is_started_ = false; }

 private:
  double speed_;
  bool is_started_ = false;
  std::chrono::steady_clock::time_point start_;  // when timestamp 0 was due
  std::chrono::nanoseconds last_{0};
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
  /// options), unsupported (loops or start with a source that cannot be read again; a video's pixel
  /// format other than YUV 4:2:0, 4:2:2, 4:4:4, grey and
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
  /// Makes next() continue with the first frame at or after `time` of a file, folder or video;
  /// after the last one it returns nullopt. A video without an index is decoded from its beginning.
  /// Errors: invalid_argument (`time` below 0), unsupported (a camera, a live stream, a pipe),
  /// those of open(); after these the source is at its end.
  Status seek(std::chrono::nanoseconds time);
  /// Number of frames, if it is known in advance. Unknown with FrameSourceOptions::loops.
  std::optional<std::size_t> frame_count() const noexcept;
  bool is_video() const noexcept;
  /// A camera or a stream that is sent as it is recorded: frames that are not read in time are
  /// lost, or late.
  bool is_live() const noexcept;
  /// How often a lost source was opened again.
  std::size_t reconnect_count() const noexcept;
  /// Frames per second; 0: unknown.
  double rate() const noexcept;

 private:
  struct Impl;
  explicit FrameSource(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// How VideoWriter encodes.
struct VideoWriterOptions {
  /// FFmpeg's name of an encoder that takes frames in memory ("libx264", "h264_v4l2m2m", "mpeg4"),
  /// or "openh264" for Cisco's library. Empty: the first of libx264, openh264 and mpeg4 that this
  /// machine has.
  std::string encoder = {};
  std::int64_t bitrate = 0;  ///< bits per second, up to 1e9; 0: a constant quality
  int key_interval = 0;      ///< frames between key frames at most, up to 1e5; 0: the encoder's
};

/// Writes a video file (H.264 if FFmpeg or openh264 has it, else MPEG-4). The file appears under
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
  /// above 0 and at most 1000; options; the path is a folder, device or pipe), unsupported
  /// (extension; no such encoder; build without FFmpeg; FFmpeg cannot be loaded), permission,
  /// not_found, other errors of OutputFile.
  static Result<VideoWriter> create(const std::string& path, Size size, double rate,
                                    const VideoWriterOptions& options = {});
  VideoWriter(VideoWriter&&) noexcept;
  VideoWriter& operator=(VideoWriter&&) noexcept;
  ~VideoWriter();

  std::string_view encoder() const noexcept;  ///< its name, as in VideoWriterOptions

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
