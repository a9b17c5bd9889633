// SPDX-License-Identifier: Apache-2.0
// Packets pass a bitstream filter of FFmpeg, which makes whole streams of them: Annex B with
// parameter sets for H.264 and HEVC, the header before key frames for MPEG-4.
#include "capture/ffmpeg/hardware_decoder.h"

#ifdef HALYARD_HAVE_FFMPEG

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <span>
#include <utility>

#include "base/text/format_error.h"
#include "capture/ffmpeg/video_input.h"
#include "halyard/video_codec.h"

namespace halyard::capture {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr AVRational microsecond{1, 1'000'000};
constexpr std::uint32_t held_images = 8;
// Packets whose images have not come: more than any codec keeps back.
constexpr std::size_t max_times = 128;
// Between two calls of is_cancelled.
constexpr milliseconds slice{100};
// How long a live stream waits for the image of the packet that it has just sent, and how often in
// vain: a codec that keeps images back is not waited for.
constexpr milliseconds image_wait{20};
constexpr int max_misses = 8;

struct CodecName {
  AVCodecID id;
  VideoCodec codec;
  const char* filter;
};
constexpr CodecName codec_names[] = {
    {AV_CODEC_ID_H264, VideoCodec::h264, "h264_mp4toannexb"},
    {AV_CODEC_ID_HEVC, VideoCodec::hevc, "hevc_mp4toannexb"},
    {AV_CODEC_ID_MPEG2VIDEO, VideoCodec::mpeg2, "null"},
    {AV_CODEC_ID_MPEG4, VideoCodec::mpeg4, "dump_extra"},
    {AV_CODEC_ID_VP8, VideoCodec::vp8, "null"},
    {AV_CODEC_ID_VP9, VideoCodec::vp9, "null"},
    {AV_CODEC_ID_AV1, VideoCodec::av1, "null"},
    {AV_CODEC_ID_MJPEG, VideoCodec::mjpeg, "null"},
};

const CodecName* name_of_codec(AVCodecID id) noexcept {
  const auto* const found = std::ranges::find(codec_names, id, &CodecName::id);
  return found == std::end(codec_names) ? nullptr : found;
}

struct FreeFilter {
  void operator()(AVBSFContext* p) const noexcept { ffmpeg().av_bsf_free(&p); }
};
using FilterPtr = std::unique_ptr<AVBSFContext, FreeFilter>;

Result<FilterPtr> open_filter(const char* filter, const AVStream& stream, const std::string& name) {
  const AVBitStreamFilter* const kind = ffmpeg().av_bsf_get_by_name(filter);
  if (kind == nullptr)
    return fail(Errc::unsupported, "video: this FFmpeg lacks a bitstream filter", "{}", filter);
  AVBSFContext* context = nullptr;
  int done = ffmpeg().av_bsf_alloc(kind, &context);
  FilterPtr out(context);
  if (done >= 0) {
    context->time_base_in = stream.time_base;
    done = ffmpeg().avcodec_parameters_copy(context->par_in, stream.codecpar);
  }
  if (done >= 0) done = ffmpeg().av_bsf_init(context);
  if (done < 0)
    return ffmpeg_error("video: its packets cannot be prepared", done, name, Errc::malformed);
  return out;
}

// The stream's colours, where the container or its codec tell them; else the driver's.
Colorimetry colours_of(const Colorimetry& stream, Colorimetry out) noexcept {
  if (stream.space != ColorSpace::unknown) out.space = stream.space;
  if (stream.transfer != ColorTransfer::unknown) out.transfer = stream.transfer;
  if (stream.encoding != ColorEncoding::unknown) out.encoding = stream.encoding;
  if (stream.range != ColorRange::unknown) out.range = stream.range;
  return out;
}

// Whether the codec is still there, and has lost nothing.
bool can_continue(Errc code) noexcept {
  return code == Errc::cancelled || code == Errc::timeout || code == Errc::exhausted;
}

class HardwareDecoder final : public PacketDecoder {
 public:
  struct Parts {
    VideoDecoder decoder;
    FilterPtr filter;
    PacketPtr packet;
    AVRational time_base;
    std::int64_t start_time;
    Colorimetry colorimetry;
    bool is_live;
    bool has_reorder;
  };
  HardwareDecoder(Parts parts, const FrameSourceOptions& options, std::string name)
      : parts_(std::move(parts)),
        is_cancelled_(options.load.is_cancelled),
        patience_(options.network_timeout),
        limits_(options.load.limits),
        name_(std::move(name)) {}

  Result<DecoderAnswer> receive(std::size_t index) override;
  Status send(AVPacket* packet, std::size_t index) override;
  Status restart() override;

 private:
  Result<DecoderAnswer> receive_next();
  Status filter_packet();
  Result<bool> hand_over();
  Result<DecoderAnswer> wait_for_image();
  Result<DecoderAnswer> await_newest();
  Result<DecoderAnswer> give(std::optional<DecodedImage> image);
  std::int64_t note_time(const AVPacket& packet);
  std::int64_t take_time(std::chrono::nanoseconds sent);
  template <class Call>
  auto in_slices(const Call& call) -> decltype(call(slice));

  Parts parts_;
  std::function<bool()> is_cancelled_;
  milliseconds patience_;
  DecodeLimits limits_;
  std::string name_;
  bool has_packet_ = false;  // parts_.packet waits for a free buffer of the codec
  bool has_sent_ = false;    // a packet since the last image
  bool is_draining_ = false;
  bool has_failed_ = false;
  int misses_ = 0;
  struct Time {
    std::int64_t sent_us, timestamp;
  };
  std::deque<Time> times_;  // of packets whose images have not come
};

// Calls it with short timeouts, so that the wait can be cancelled and other threads can release
// images meanwhile.
template <class Call>
auto HardwareDecoder::in_slices(const Call& call) -> decltype(call(slice)) {
  const auto end = Clock::now() + patience_;
  for (;;) {
    auto done = call(std::min(slice, patience_));
    if (done) return done;
    if (!can_continue(done.error().code) || Clock::now() >= end) return done;
    if (is_cancelled_ && is_cancelled_())
      return make_error(Errc::cancelled, "the caller asked to stop");
  }
}

Result<DecoderAnswer> HardwareDecoder::receive(std::size_t) {
  // After an error of the codec, nothing more comes of it.
  if (has_failed_) return DecoderAnswer{DecoderAnswer::State::end, {}};
  auto answer = receive_next();
  has_failed_ = !answer && !can_continue(answer.error().code);
  return answer;
}

Result<DecoderAnswer> HardwareDecoder::receive_next() {
  for (;;) {
    if (parts_.is_live && parts_.decoder.is_ready()) return wait_for_image();
    if (!has_packet_) break;
    HALYARD_TRY(const bool is_taken, hand_over());
    if (!is_taken) return wait_for_image();
  }
  if (is_draining_) return wait_for_image();
  return parts_.is_live && has_sent_ ? await_newest() : DecoderAnswer();
}

Result<bool> HardwareDecoder::hand_over() {
  const AVPacket& packet = *parts_.packet;
  const auto bytes = std::as_bytes(std::span(packet.data, static_cast<std::size_t>(packet.size)));
  const std::chrono::microseconds time(note_time(packet));
  const bool is_key = (packet.flags & AV_PKT_FLAG_KEY) != 0;
  HALYARD_TRY(const bool is_taken, in_slices([&](milliseconds timeout) {
                return parts_.decoder.send({bytes, time, is_key, nullptr}, timeout);
              }));
  if (!is_taken) {
    times_.pop_back();
    return false;
  }
  ffmpeg().av_packet_unref(parts_.packet.get());
  has_sent_ = true;
  HALYARD_RETURN_IF_ERROR(filter_packet());
  return true;
}

Result<DecoderAnswer> HardwareDecoder::wait_for_image() {
  HALYARD_TRY(auto image,
              in_slices([&](milliseconds timeout) { return parts_.decoder.next(timeout); }));
  return give(std::move(image));
}

Result<DecoderAnswer> HardwareDecoder::await_newest() {
  has_sent_ = false;
  if (parts_.has_reorder || misses_ >= max_misses) return DecoderAnswer();
  auto image = parts_.decoder.next(image_wait);
  if (!image && image.error().code == Errc::timeout) {
    ++misses_;
    return DecoderAnswer();
  }
  misses_ = 0;
  if (!image) return image.error();
  return give(*std::move(image));
}

Result<DecoderAnswer> HardwareDecoder::give(std::optional<DecodedImage> image) {
  has_sent_ = false;
  if (!image) return DecoderAnswer{DecoderAnswer::State::end, {}};
  Tensor& pixels = image->image;
  // The stream may change its size.
  HALYARD_RETURN_IF_ERROR(check_frame(
      {static_cast<int>(pixels.width()), static_cast<int>(pixels.height()), AV_PIX_FMT_NV12},
      limits_, name_));
  pixels.set_colorimetry(colours_of(parts_.colorimetry, pixels.colorimetry()));
  const std::int64_t timestamp = take_time(image->timestamp);
  return DecoderAnswer{DecoderAnswer::State::frame, {nullptr, std::move(pixels), timestamp}};
}

// Microseconds for the driver: a timestamp from the stream's start, above 0.
std::int64_t HardwareDecoder::note_time(const AVPacket& packet) {
  const std::int64_t timestamp = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  std::int64_t since = 0;
  const bool has_time =
      timestamp != AV_NOPTS_VALUE && !__builtin_sub_overflow(timestamp, parts_.start_time, &since);
  const std::int64_t us =
      has_time ? ffmpeg().av_rescale_q(since, parts_.time_base, microsecond) : 0;
  const std::int64_t sent = std::max<std::int64_t>(0, us) + microsecond.den;
  times_.push_back({sent, has_time ? timestamp : AV_NOPTS_VALUE});
  if (times_.size() > max_times) times_.pop_front();
  return sent;
}

std::int64_t HardwareDecoder::take_time(std::chrono::nanoseconds sent) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(sent).count();
  const auto found = std::ranges::find(times_, us, &Time::sent_us);
  if (found == times_.end()) return AV_NOPTS_VALUE;
  const std::int64_t timestamp = found->timestamp;
  times_.erase(found);
  return timestamp;
}

Status HardwareDecoder::send(AVPacket* packet, std::size_t index) {
  // The filter takes the reference.
  const int sent = ffmpeg().av_bsf_send_packet(parts_.filter.get(), packet);
  if (sent < 0 && sent != AVERROR_EOF) {
    return ffmpeg_error("video: a packet is damaged", sent,
                        fmt::format("{} after {} frames", name_, index), Errc::corrupt);
  }
  HALYARD_RETURN_IF_ERROR(filter_packet());
  if (packet != nullptr) return {};
  is_draining_ = true;
  return parts_.decoder.drain();
}

// Makes the filter's next packet the one that waits.
Status HardwareDecoder::filter_packet() {
  int got = 0;
  do {
    got = ffmpeg().av_bsf_receive_packet(parts_.filter.get(), parts_.packet.get());
  } while (got >= 0 && parts_.packet->size == 0);
  has_packet_ = got >= 0;
  if (got >= 0 || got == AVERROR(EAGAIN) || got == AVERROR_EOF) return {};
  return ffmpeg_error("video: a packet is damaged", got, name_, Errc::corrupt);
}

Status HardwareDecoder::restart() {
  ffmpeg().av_bsf_flush(parts_.filter.get());
  ffmpeg().av_packet_unref(parts_.packet.get());
  has_packet_ = has_sent_ = is_draining_ = has_failed_ = false;
  times_.clear();
  return parts_.decoder.flush();
}

VideoDecoderOptions codec_options(const AVCodecParameters& parameters, VideoCodec codec,
                                  const std::string& wanted) {
  VideoDecoderOptions out;
  out.codec = codec;
  if (wanted.starts_with('/')) out.path = wanted;
  out.width = static_cast<std::size_t>(std::max(0, parameters.width));
  out.height = static_cast<std::size_t>(std::max(0, parameters.height));
  // An image without compression.
  out.packet_bytes = out.width * out.height * 3 / 2;
  out.images = held_images;
  return out;
}

}  // namespace

Result<std::unique_ptr<PacketDecoder>> open_hardware_decoder(const AVStream& stream, bool is_live,
                                                             const FrameSourceOptions& options,
                                                             const std::string& name) {
  const AVCodecParameters& parameters = *stream.codecpar;
  HALYARD_RETURN_IF_ERROR(check_frame({parameters.width, parameters.height, AV_PIX_FMT_NV12},
                                      options.load.limits, name));
  const CodecName* const row = name_of_codec(parameters.codec_id);
  if (row == nullptr) {
    return fail(Errc::unsupported, "video_decoder: hardware codecs do not know this codec",
                "{}: {}", name, ffmpeg().avcodec_get_name(parameters.codec_id));
  }
  HALYARD_TRY(auto decoder,
              VideoDecoder::open(codec_options(parameters, row->codec, options.video_decoder)));
  HALYARD_TRY(auto filter, open_filter(row->filter, stream, name));
  PacketPtr packet(ffmpeg().av_packet_alloc());
  if (!packet) return fail(Errc::no_memory, "video: packet cannot be allocated", "{}", name);
  const std::int64_t start = stream.start_time != AV_NOPTS_VALUE ? stream.start_time : 0;
  HardwareDecoder::Parts parts{std::move(decoder),
                               std::move(filter),
                               std::move(packet),
                               stream.time_base,
                               start,
                               colorimetry_of(parameters),
                               is_live,
                               parameters.video_delay > 0};
  return std::unique_ptr<PacketDecoder>(
      std::make_unique<HardwareDecoder>(std::move(parts), options, name));
}

}  // namespace halyard::capture

#endif
