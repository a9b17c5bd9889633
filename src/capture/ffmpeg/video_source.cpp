// SPDX-License-Identifier: Apache-2.0
// Frames of a video: sends packets to the decoder, receives frames, and drains it at the end.
#ifdef HALYARD_HAVE_FFMPEG

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text/format_error.h"
#include "capture/ffmpeg/ffmpeg.h"
#include "capture/ffmpeg/video_frame.h"
#include "capture/ffmpeg/video_input.h"
#include "capture/source.h"

namespace halyard::capture {
namespace {

constexpr AVRational nanosecond{1, 1'000'000'000};

class VideoSource final : public Source {
 public:
  VideoSource(VideoInput input, CodecPtr decoder, PacketPtr packet, std::string name,
              const DecodeLimits& limits)
      : name_(std::move(name)),
        limits_(limits),
        input_(std::move(input)),
        decoder_(std::move(decoder)),
        packet_(std::move(packet)),
        rate_(input_.rate()),
        is_live_(input_.is_live()),
        orientation_(input_.orientation()) {}

  Result<std::optional<Frame>> next() override;
  std::optional<std::size_t> frame_count() const noexcept override {
    const std::int64_t count = input_.stream().nb_frames;
    if (count <= 0) return std::nullopt;
    return static_cast<std::size_t>(count);
  }
  bool is_video() const noexcept override { return true; }
  bool is_live() const noexcept override { return is_live_; }
  double rate() const noexcept override { return rate_; }
  Status seek(std::chrono::nanoseconds time) override;

 private:
  Result<FramePtr> decode();
  Status feed();
  void restart_decoder();
  Status restart();
  Result<bool> jump(std::chrono::nanoseconds time);
  Result<FramePtr> skip_damaged();
  Result<Frame> give(FramePtr frame);
  std::chrono::nanoseconds time_of(const AVFrame& frame, std::size_t index) const noexcept;

  std::string name_;
  DecodeLimits limits_;
  VideoInput input_;
  CodecPtr decoder_;
  PacketPtr packet_;
  double rate_;
  bool is_live_;
  Orientation orientation_;
  std::size_t index_ = 0;
  bool draining_ = false;  // the decoder knows that no packet follows
  FramePtr ahead_;         // the next frame, if seek() has found it
};

Result<std::optional<Frame>> VideoSource::next() {
  FramePtr frame = std::move(ahead_);
  if (!frame) {
    HALYARD_TRY(frame, decode());
  }
  if (!frame) return std::optional<Frame>();
  HALYARD_TRY(Frame out, give(std::move(frame)));
  return std::optional<Frame>(std::move(out));
}

// The next frame; null at the end.
Result<FramePtr> VideoSource::decode() {
  FramePtr frame(ffmpeg().av_frame_alloc());
  if (!frame) return fail(Errc::no_memory, "video: frame cannot be allocated", "{}", name_);
  for (;;) {
    const int got = ffmpeg().avcodec_receive_frame(decoder_.get(), frame.get());
    if (got == 0) return frame;
    if (got == AVERROR_EOF) return FramePtr();
    if (got != AVERROR(EAGAIN)) {
      // A draining decoder may return the same error forever. The flush ends the video here.
      if (draining_ && got != AVERROR_INVALIDDATA) ffmpeg().avcodec_flush_buffers(decoder_.get());
      return ffmpeg_error("video: a frame is damaged", got,
                          fmt::format("{} after {} frames", name_, index_), Errc::corrupt);
    }
    HALYARD_RETURN_IF_ERROR(feed());
  }
}

// Sends one packet, or end-of-stream, to the decoder.
Status VideoSource::feed() {
  auto more = input_.read(*packet_);
  if (!more) return more.error();
  if (!*more) draining_ = true;
  const int sent = ffmpeg().avcodec_send_packet(decoder_.get(), *more ? packet_.get() : nullptr);
  ffmpeg().av_packet_unref(packet_.get());
  if (sent < 0 && sent != AVERROR_EOF) {
    return ffmpeg_error("video: a packet is damaged", sent,
                        fmt::format("{} after {} frames", name_, index_), Errc::corrupt);
  }
  return {};
}

void VideoSource::restart_decoder() {
  ffmpeg().avcodec_flush_buffers(decoder_.get());
  draining_ = false;
  ahead_.reset();
}

Status VideoSource::restart() {
  HALYARD_RETURN_IF_ERROR(input_.restart());
  restart_decoder();
  index_ = 0;
  return {};
}

// The next frame that can be decoded; null at the end.
Result<FramePtr> VideoSource::skip_damaged() {
  for (;;) {
    auto frame = decode();
    if (frame || frame.error().code != Errc::corrupt) return frame;
  }
}

// Continues at a key frame before `time`. False if the container cannot do that: it refuses, it
// keeps no times, or it has led behind `time`.
Result<bool> VideoSource::jump(std::chrono::nanoseconds time) {
  const AVStream& stream = input_.stream();
  if (stream.time_base.num <= 0 || stream.time_base.den <= 0) return false;
  const std::int64_t first = stream.start_time != AV_NOPTS_VALUE ? stream.start_time : 0;
  std::int64_t target = ffmpeg().av_rescale_q(time.count(), nanosecond, stream.time_base);
  if (__builtin_add_overflow(target, first, &target) || !input_.seek(target)) return false;
  restart_decoder();
  HALYARD_TRY(ahead_, skip_damaged());
  return ahead_ && ahead_->best_effort_timestamp != AV_NOPTS_VALUE && time_of(*ahead_, 0) <= time;
}

Status VideoSource::seek(std::chrono::nanoseconds time) {
  if (is_live_) return Source::seek(time);
  HALYARD_TRY(const bool jumped,
              time > std::chrono::nanoseconds::zero() ? jump(time) : Result<bool>(false));
  if (!jumped) {
    HALYARD_RETURN_IF_ERROR(restart());
    HALYARD_TRY(ahead_, skip_damaged());
  }
  std::size_t passed = 0;  // without times of its own, a video has those of its frames' numbers
  while (ahead_ && time_of(*ahead_, passed) < time) {
    HALYARD_TRY(ahead_, skip_damaged());
    ++passed;
  }
  if (ahead_ && rate_ > 0) {
    const auto seconds = std::chrono::duration<double>(time_of(*ahead_, passed)).count();
    index_ = static_cast<std::size_t>(std::max(0LL, std::llround(seconds * rate_)));
  }
  return {};
}

Result<Frame> VideoSource::give(FramePtr frame) {
  const std::size_t index = index_++;
  if ((frame->flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame->decode_error_flags != 0) {
    return fail(Errc::corrupt, "video: a frame is damaged", "{} frame {}", name_, index);
  }
  // The frame size may change within a stream.
  HALYARD_RETURN_IF_ERROR(
      check_frame({frame->width, frame->height, frame->format}, limits_, name_));
  const auto when = time_of(*frame, index);
  HALYARD_TRY(Tensor image, wrap_frame(std::move(frame), name_));
  image.set_orientation(orientation_);
  return Frame{std::move(image), name_, index, when};
}

std::chrono::nanoseconds VideoSource::time_of(const AVFrame& frame,
                                              std::size_t index) const noexcept {
  const AVStream& stream = input_.stream();
  if (frame.best_effort_timestamp != AV_NOPTS_VALUE && stream.time_base.den > 0) {
    const std::int64_t first = stream.start_time != AV_NOPTS_VALUE ? stream.start_time : 0;
    std::int64_t since = 0;
    if (!__builtin_sub_overflow(frame.best_effort_timestamp, first, &since)) {
      return std::chrono::nanoseconds(ffmpeg().av_rescale_q(since, stream.time_base, nanosecond));
    }
  }
  const double rate = rate_ > 0 ? rate_ : 25;
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(index) * 1e9 / rate));
}

}  // namespace

SourceResult video_source(Result<VideoInput> input, const std::string& name,
                          const Options& options) {
  if (!input) return input.error();
  const int format = input->stream().codecpar->format;
  if (format != AV_PIX_FMT_NONE) HALYARD_RETURN_IF_ERROR(check_pixel_format(format, name));
  HALYARD_TRY(CodecPtr decoder, open_decoder(input->stream(), options.load.limits, name));
  PacketPtr packet(ffmpeg().av_packet_alloc());
  if (!packet) return fail(Errc::no_memory, "video: packet cannot be allocated", "{}", name);
  return std::unique_ptr<Source>(std::make_unique<VideoSource>(
      *std::move(input), std::move(decoder), std::move(packet), name, options.load.limits));
}

SourceResult video_source(const std::string& path, const Options& options) {
  return video_source(VideoInput::open(path), path, options);
}

SourceResult video_source(ByteStream stream, const std::string& name, const Options& options) {
  return video_source(VideoInput::open(std::move(stream), name), name, options);
}

}  // namespace halyard::capture

#endif
