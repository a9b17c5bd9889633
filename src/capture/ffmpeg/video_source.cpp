// SPDX-License-Identifier: Apache-2.0
// Frames of a video: gives its decoder packets, receives frames, and drains it at the end.
#ifdef HALYARD_HAVE_FFMPEG

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text/format_error.h"
#include "capture/ffmpeg/hardware_decoder.h"
#include "capture/ffmpeg/packet_decoder.h"
#include "capture/ffmpeg/software_decoder.h"
#include "capture/ffmpeg/video_frame.h"
#include "capture/ffmpeg/video_input.h"
#include "capture/source.h"
#include "halyard/log.h"

namespace halyard::capture {
namespace {

constexpr AVRational nanosecond{1, 1'000'000'000};

class VideoSource final : public Source {
 public:
  VideoSource(VideoInput input, std::unique_ptr<PacketDecoder> decoder, PacketPtr packet,
              std::string name, const DecodeLimits& limits)
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
  Result<std::optional<DecodedFrame>> decode();
  Status feed();
  Status restart_decoder();
  Status restart();
  Result<bool> jump(std::chrono::nanoseconds time);
  Status find_next();
  Result<Frame> give(DecodedFrame decoded);
  Result<Tensor> image_of(DecodedFrame decoded) const;
  std::chrono::nanoseconds time_of(const DecodedFrame& decoded, std::size_t index) const noexcept;

  std::string name_;
  DecodeLimits limits_;
  VideoInput input_;
  std::unique_ptr<PacketDecoder> decoder_;
  PacketPtr packet_;
  double rate_;
  bool is_live_;
  Orientation orientation_;
  std::size_t index_ = 0;
  std::optional<DecodedFrame> ahead_;  // the next frame, if seek() has found it
};

Result<std::optional<Frame>> VideoSource::next() {
  auto decoded = std::exchange(ahead_, std::nullopt);
  if (!decoded) {
    HALYARD_TRY(decoded, decode());
  }
  if (!decoded) return std::optional<Frame>();
  HALYARD_TRY(Frame out, give(*std::move(decoded)));
  return std::optional<Frame>(std::move(out));
}

// The next frame; nullopt at the end.
Result<std::optional<DecodedFrame>> VideoSource::decode() {
  for (;;) {
    HALYARD_TRY(DecoderAnswer answer, decoder_->receive(index_));
    switch (answer.state) {
      case DecoderAnswer::State::frame:
        return std::optional<DecodedFrame>(std::move(answer.decoded));
      case DecoderAnswer::State::end:
        return std::optional<DecodedFrame>();
      case DecoderAnswer::State::needs_packet:
        HALYARD_RETURN_IF_ERROR(feed());
    }
  }
}

// Gives the decoder one packet, or the end of the stream.
Status VideoSource::feed() {
  HALYARD_TRY(const bool has_more, input_.read(*packet_));
  Status sent = decoder_->send(has_more ? packet_.get() : nullptr, index_);
  ffmpeg().av_packet_unref(packet_.get());
  return sent;
}

Status VideoSource::restart_decoder() {
  ahead_.reset();
  return decoder_->restart();
}

Status VideoSource::restart() {
  HALYARD_RETURN_IF_ERROR(input_.restart());
  HALYARD_RETURN_IF_ERROR(restart_decoder());
  index_ = 0;
  return {};
}

// Makes the next frame that can be decoded the one ahead; none at the end.
Status VideoSource::find_next() {
  ahead_.reset();
  for (;;) {
    auto decoded = decode();
    if (decoded) ahead_ = *std::move(decoded);
    if (decoded || decoded.error().code != Errc::corrupt)
      return decoded ? Status() : Status(decoded.error());
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
  HALYARD_RETURN_IF_ERROR(restart_decoder());
  HALYARD_RETURN_IF_ERROR(find_next());
  return ahead_ && ahead_->timestamp != AV_NOPTS_VALUE && time_of(*ahead_, 0) <= time;
}

Status VideoSource::seek(std::chrono::nanoseconds time) {
  if (is_live_) return Source::seek(time);
  HALYARD_TRY(const bool jumped,
              time > std::chrono::nanoseconds::zero() ? jump(time) : Result<bool>(false));
  if (!jumped) {
    HALYARD_RETURN_IF_ERROR(restart());
    HALYARD_RETURN_IF_ERROR(find_next());
  }
  std::size_t passed = 0;  // without times of its own, a video has those of its frames' numbers
  while (ahead_ && time_of(*ahead_, passed) < time) {
    HALYARD_RETURN_IF_ERROR(find_next());
    ++passed;
  }
  if (ahead_ && rate_ > 0) {
    const auto seconds = std::chrono::duration<double>(time_of(*ahead_, passed)).count();
    index_ = static_cast<std::size_t>(std::max(0LL, std::llround(seconds * rate_)));
  }
  return {};
}

Result<Frame> VideoSource::give(DecodedFrame decoded) {
  const std::size_t index = index_++;
  const AVFrame* const frame = decoded.frame.get();
  if (frame && ((frame->flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame->decode_error_flags != 0)) {
    return fail(Errc::corrupt, "video: a frame is damaged", "{} frame {}", name_, index);
  }
  const auto when = time_of(decoded, index);
  HALYARD_TRY(Tensor image, image_of(std::move(decoded)));
  image.set_orientation(orientation_);
  return Frame{std::move(image), name_, index, when};
}

Result<Tensor> VideoSource::image_of(DecodedFrame decoded) const {
  if (!decoded.frame) return std::move(decoded.image);
  const AVFrame& frame = *decoded.frame;
  // The frame size may change within a stream.
  HALYARD_RETURN_IF_ERROR(check_frame({frame.width, frame.height, frame.format}, limits_, name_));
  return wrap_frame(std::move(decoded.frame), name_);
}

std::chrono::nanoseconds VideoSource::time_of(const DecodedFrame& decoded,
                                              std::size_t index) const noexcept {
  const AVStream& stream = input_.stream();
  if (decoded.timestamp != AV_NOPTS_VALUE && stream.time_base.den > 0) {
    const std::int64_t first = stream.start_time != AV_NOPTS_VALUE ? stream.start_time : 0;
    std::int64_t since = 0;
    if (!__builtin_sub_overflow(decoded.timestamp, first, &since)) {
      return std::chrono::nanoseconds(ffmpeg().av_rescale_q(since, stream.time_base, nanosecond));
    }
  }
  const double rate = rate_ > 0 ? rate_ : 25;
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(index) * 1e9 / rate));
}

}  // namespace

namespace {

// Errors: those of both kinds of decoders; unsupported (pixel format).
Result<std::unique_ptr<PacketDecoder>> open_decoder(const VideoInput& input,
                                                    const std::string& name,
                                                    const Options& options) {
  const std::string& wanted = options.video_decoder;
  const bool takes_any = wanted == "auto";
  if (takes_any || wanted == "v4l2" || wanted.starts_with('/')) {
    auto decoder = open_hardware_decoder(input.stream(), input.is_live(), options, name);
    if (decoder || !takes_any) return decoder;
    log(LogLevel::info, "capture", "the CPU decodes: " + decoder.error().message());
  }
  const int format = input.stream().codecpar->format;
  if (format != AV_PIX_FMT_NONE) HALYARD_RETURN_IF_ERROR(check_pixel_format(format, name));
  return open_software_decoder(input.stream(), options.load.limits, name);
}

}  // namespace

SourceResult video_source(Result<VideoInput> input, const std::string& name,
                          const Options& options) {
  if (!input) return input.error();
  HALYARD_TRY(auto decoder, open_decoder(*input, name, options));
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
