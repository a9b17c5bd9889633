// SPDX-License-Identifier: Apache-2.0
// Frames of a video: sends packets to the decoder, receives frames, and drains it at the end.
#ifdef HALYARD_HAVE_FFMPEG

#include <utility>

#include "base/text/format_error.h"
#include "capture/ffmpeg/ffmpeg.h"
#include "capture/ffmpeg/video_frame.h"
#include "capture/ffmpeg/video_input.h"
#include "capture/source.h"

namespace halyard::capture {
namespace {

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
        orientation_(input_.orientation()) {}

  Result<std::optional<Frame>> next() override;
  std::optional<std::size_t> frame_count() const noexcept override {
    const std::int64_t count = input_.stream().nb_frames;
    if (count <= 0) return std::nullopt;
    return static_cast<std::size_t>(count);
  }
  bool is_video() const noexcept override { return true; }
  double rate() const noexcept override { return rate_; }

 private:
  Status feed();
  Result<Frame> give(FramePtr frame);
  std::chrono::nanoseconds time_of(const AVFrame& frame, std::size_t index) const noexcept;

  std::string name_;
  DecodeLimits limits_;
  VideoInput input_;
  CodecPtr decoder_;
  PacketPtr packet_;
  double rate_;
  Orientation orientation_;
  std::size_t index_ = 0;
  bool draining_ = false;  // the decoder knows that no packet follows
};

Result<std::optional<Frame>> VideoSource::next() {
  FramePtr frame(ffmpeg().av_frame_alloc());
  if (!frame) return fail(Errc::no_memory, "video: frame cannot be allocated", "{}", name_);
  for (;;) {
    const int got = ffmpeg().avcodec_receive_frame(decoder_.get(), frame.get());
    if (got == 0) {
      HALYARD_TRY(Frame out, give(std::move(frame)));
      return std::optional<Frame>(std::move(out));
    }
    if (got == AVERROR_EOF) return std::optional<Frame>();
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
      return std::chrono::nanoseconds(
          ffmpeg().av_rescale_q(since, stream.time_base, AVRational{1, 1'000'000'000}));
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
