// SPDX-License-Identifier: Apache-2.0
// Sends packets to FFmpeg's decoder and receives frames.
#include "capture/ffmpeg/software_decoder.h"

#ifdef HALYARD_HAVE_FFMPEG

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "base/text/format_error.h"
#include "capture/ffmpeg/video_input.h"

namespace halyard::capture {
namespace {

class SoftwareDecoder final : public PacketDecoder {
 public:
  SoftwareDecoder(CodecPtr codec, std::string name)
      : codec_(std::move(codec)), name_(std::move(name)) {}
  Result<DecoderAnswer> receive(std::size_t index) override;
  Status send(AVPacket* packet, std::size_t index) override;
  Status restart() override {
    ffmpeg().avcodec_flush_buffers(codec_.get());
    draining_ = false;
    return {};
  }

 private:
  std::string place(std::size_t index) const {
    return fmt::format("{} after {} frames", name_, index);
  }

  CodecPtr codec_;
  std::string name_;
  bool draining_ = false;  // the decoder knows that no packet follows
};

Result<DecoderAnswer> SoftwareDecoder::receive(std::size_t index) {
  FramePtr frame(ffmpeg().av_frame_alloc());
  if (!frame) return fail(Errc::no_memory, "video: frame cannot be allocated", "{}", name_);
  const int got = ffmpeg().avcodec_receive_frame(codec_.get(), frame.get());
  if (got == 0) {
    const std::int64_t timestamp = frame->best_effort_timestamp;
    return DecoderAnswer{DecoderAnswer::State::frame, {std::move(frame), {}, timestamp}};
  }
  if (got == AVERROR_EOF) return DecoderAnswer{DecoderAnswer::State::end, {}};
  if (got == AVERROR(EAGAIN)) return DecoderAnswer();
  // A draining decoder may return the same error forever. The flush ends the video here.
  if (draining_ && got != AVERROR_INVALIDDATA) ffmpeg().avcodec_flush_buffers(codec_.get());
  return ffmpeg_error("video: a frame is damaged", got, place(index), Errc::corrupt);
}

Status SoftwareDecoder::send(AVPacket* packet, std::size_t index) {
  if (packet == nullptr) draining_ = true;
  const int sent = ffmpeg().avcodec_send_packet(codec_.get(), packet);
  if (sent >= 0 || sent == AVERROR_EOF) return {};
  return ffmpeg_error("video: a packet is damaged", sent, place(index), Errc::corrupt);
}

Result<CodecPtr> open_codec(const AVStream& stream, const DecodeLimits& limits,
                            const std::string& name) {
  const AVCodecParameters& parameters = *stream.codecpar;
  HALYARD_RETURN_IF_ERROR(
      check_frame({parameters.width, parameters.height, parameters.format}, limits, name));
  const AVCodec* codec = ffmpeg().avcodec_find_decoder(parameters.codec_id);
  if (codec == nullptr) {
    return fail(Errc::unsupported, "video: this FFmpeg has no decoder for its codec", "{}: {}",
                name, ffmpeg().avcodec_get_name(parameters.codec_id));
  }
  CodecPtr decoder(ffmpeg().avcodec_alloc_context3(codec));
  if (!decoder) return fail(Errc::no_memory, "video: decoder cannot be allocated", "{}", name);
  const int set = ffmpeg().avcodec_parameters_to_context(decoder.get(), &parameters);
  if (set < 0) return ffmpeg_error("video: decoder refuses the stream", set, name, Errc::malformed);
  constexpr auto maximum = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  decoder->max_pixels = static_cast<std::int64_t>(std::min(limits.max_pixels, maximum));
  decoder->pkt_timebase = stream.time_base;
  // Each thread holds frames of its own, so there are at most 16 threads.
  decoder->thread_count = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 16);
  const int opened = ffmpeg().avcodec_open2(decoder.get(), codec, nullptr);
  if (opened < 0)
    return ffmpeg_error("video: decoder refuses the stream", opened, name, Errc::malformed);
  return decoder;
}

}  // namespace

Result<std::unique_ptr<PacketDecoder>> open_software_decoder(const AVStream& stream,
                                                             const DecodeLimits& limits,
                                                             const std::string& name) {
  HALYARD_TRY(CodecPtr codec, open_codec(stream, limits, name));
  return std::unique_ptr<PacketDecoder>(std::make_unique<SoftwareDecoder>(std::move(codec), name));
}

}  // namespace halyard::capture

#endif
