// SPDX-License-Identifier: Apache-2.0
// VideoStreamWriter: live H.264 in fragmented MP4, one segment for each image, as the Media Source
// Extensions of browsers take it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// One image as a media segment (moof and mdat) of the ISO BMFF byte stream format of Media Source
/// Extensions.
struct VideoSegment {
  std::string bytes;
  bool is_key = false;               ///< a viewer may begin here
  std::chrono::nanoseconds time{0};  ///< of the image, in whole microseconds
  /// How long the image lasts at most. It is an estimate, twice the usual interval, because the
  /// next image is not there yet: one that comes earlier ends it.
  std::chrono::nanoseconds duration{0};
};

/// How VideoStreamWriter encodes.
struct VideoStreamOptions {
  /// "libx264" (of FFmpeg) or "openh264" (Cisco's library). Empty: the first of them that this
  /// machine has.
  std::string encoder = {};
  /// Images per second that are expected, above 0, at most 1000. A bit rate is kept at this rate.
  double rate = 25;
  std::int64_t bitrate = 0;  ///< bits per second, up to 1e9; 0: a constant quality
  /// Time between key frames at most, in the time of the images; 1 ms to 1 h. An image that comes
  /// when it has passed becomes a key frame.
  std::chrono::milliseconds key_interval{1000};
};

/// Encodes the images of a live source, at their own times, without delay: each gives one segment
/// at once. What a viewer needs is initialization(), then a segment that is a key frame, and all
/// that follow it, in order.
///
/// Nothing is kept of an image or a segment after write(): memory does not grow. Sizes of video are
/// even: for an odd size the last column or row is shown twice. Thread-bound.
class VideoStreamWriter {
 public:
  /// FFmpeg is loaded. Errors: invalid_argument (size not 1..16384; options), unsupported (no H.264
  /// encoder, or not that one: the message names what to install; build without FFmpeg; FFmpeg
  /// cannot be loaded).
  static Result<VideoStreamWriter> create(Size size, const VideoStreamOptions& options = {});
  VideoStreamWriter(VideoStreamWriter&&) noexcept;
  VideoStreamWriter& operator=(VideoStreamWriter&&) noexcept;
  ~VideoStreamWriter();

  /// Encodes a u8 image of the writer's size, i420 or nv12 and upright, which is shown at `time`.
  /// Times are kept, so that a viewer's media time is the image's, also where another writer
  /// continues the stream in a new size. They are 0 or later and grow by at least 1 us. The first
  /// image is a key frame, and its colorimetry describes the colours of the stream; so is an image
  /// that comes more than two durations after the one before it, because a browser begins again
  /// there. Errors: invalid_argument (size, time), unsupported (format, orientation; with the first
  /// image: a size that the encoder does not take), os; after an os error the writer returns it
  /// again.
  Result<VideoSegment> write(const Tensor& image, std::chrono::nanoseconds time);
  /// Makes the next image a key frame, for a viewer who comes now.
  void ask_key() noexcept;

  /// The initialization segment (ftyp and moov), which comes before all others. Empty until the
  /// first image is written; constant from then on.
  const std::string& initialization() const noexcept;
  /// For MediaSource.isTypeSupported() and addSourceBuffer(): `video/mp4; codecs="avc1.42c01f"`.
  /// Empty until the first image is written.
  const std::string& mime_type() const noexcept;
  std::string_view encoder() const noexcept;  ///< its name, as in VideoStreamOptions

 private:
  struct Impl;
  explicit VideoStreamWriter(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
