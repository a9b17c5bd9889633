// SPDX-License-Identifier: Apache-2.0
// VideoStreamWriter: the encoder of VideoWriter without delay, and a fragment for each packet.
#include "halyard/video_stream.h"

#ifdef HALYARD_HAVE_FFMPEG

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/local.h"
#include "base/text/format_error.h"
#include "capture/encode/encoder_limits.h"
#include "capture/encode/fragmented_mp4.h"
#include "capture/encode/frame_encoder.h"
#include "capture/ffmpeg/ffmpeg.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

using capture::ffmpeg;
using std::chrono::microseconds;

constexpr const char* stream_name = "video stream";
constexpr std::chrono::milliseconds max_key_time = std::chrono::hours(1);
constexpr microseconds shortest_interval{1000};
constexpr microseconds longest_interval{500'000};
constexpr int largest_rate_part = 60'000;

Status check_stream(Size size, const VideoStreamOptions& options) {
  HALYARD_RETURN_IF_ERROR(capture::check_video(size, options.rate));
  HALYARD_RETURN_IF_ERROR(capture::check_bitrate(options.bitrate));
  const std::chrono::milliseconds interval = options.key_interval;
  if (interval.count() < 1 || interval > max_key_time)
    return fail(Errc::invalid_argument, "key_interval must be 1 ms to 1 h", "{} ms",
                interval.count());
  return {};
}

/// The times of the images: how long each lasts, and which must be a key frame.
class StreamClock {
 public:
  StreamClock(double rate, microseconds key_interval)
      : key_interval_(key_interval),
        interval_(within(microseconds(std::llround(std::min(1e6 / rate, 1e9))))) {}

  Status check(microseconds time) const {
    if (time.count() < 0)
      return fail(Errc::invalid_argument, "time must not be below 0", "{} us", time.count());
    if (last_ && time <= *last_)
      return fail(Errc::invalid_argument, "time must grow by at least 1 us", "{} us after {} us",
                  time.count(), last_->count());
    return {};
  }
  bool wants_key(microseconds time) const noexcept {
    return !last_ || time - last_key_ >= key_interval_ || time - *last_ > 2 * duration();
  }
  /// Of the image that was added last. Browsers bridge a gap of twice that, and wait for a key
  /// frame after a longer one.
  microseconds duration() const noexcept { return 2 * interval_; }
  void add(microseconds time, bool is_key) noexcept {
    constexpr int weight = 4;  // an interval counts 1/4, those before it 3/4
    if (last_) interval_ = within(interval_ + (time - *last_ - interval_) / weight);
    last_ = time;
    if (is_key) last_key_ = time;
  }

 private:
  static microseconds within(microseconds interval) noexcept {
    return std::clamp(interval, shortest_interval, longest_interval);
  }
  microseconds key_interval_;
  microseconds interval_;  // the usual one
  std::optional<microseconds> last_;
  microseconds last_key_{0};
};

}  // namespace

struct HALYARD_LOCAL VideoStreamWriter::Impl {
  Impl(Size wanted, const VideoStreamOptions& given)
      : size(wanted), options(given), clock(given.rate, given.key_interval) {}
  Size size;
  VideoStreamOptions options;
  std::string encoder_name;
  StreamClock clock;
  std::unique_ptr<capture::FrameEncoder> encoder;  // opened with the first image's format, colours
  capture::PacketPtr packet;
  AVColorRange color_range = AVCOL_RANGE_UNSPECIFIED;
  capture::Mp4Track track;
  std::uint32_t fragments = 0;
  bool is_key_asked = false;
  std::optional<Error> failed;  // first failure of the encoder; later calls return it

  Status check(const Tensor& image, microseconds time) const;
  Status open_encoder(const Tensor& first);
  Result<VideoSegment> encode(const Tensor& image, microseconds time);
  VideoSegment fragment(microseconds time);
};

Status VideoStreamWriter::Impl::check(const Tensor& image, microseconds time) const {
  if (image.size() != size) {
    return fail(Errc::invalid_argument, "image: size must be the writer's", "{}x{}, not {}x{}",
                image.width(), image.height(), size.width, size.height);
  }
  HALYARD_RETURN_IF_ERROR(capture::check_encodable(image));
  if (image.orientation() != Orientation{})
    return fail(Errc::unsupported, "image: must be upright: convert() makes it so");
  return clock.check(time);
}

Status VideoStreamWriter::Impl::open_encoder(const Tensor& first) {
  capture::EncoderRequest request = capture::request_for(first);
  request.path = stream_name;
  request.time_base = {1, microseconds::period::den};
  request.rate = ffmpeg().av_d2q(options.rate, largest_rate_part);
  request.has_global_header = true;
  request.has_display_order = true;
  request.is_live = true;
  request.options.bitrate = options.bitrate;
  HALYARD_TRY(auto opened, capture::open_encoder(encoder_name, request));
  const capture::ParametersPtr parameters(ffmpeg().avcodec_parameters_alloc());
  packet.reset(ffmpeg().av_packet_alloc());
  if (!parameters || !packet)
    return fail(Errc::no_memory, "video: encoder cannot be allocated", stream_name);
  HALYARD_RETURN_IF_ERROR(opened->describe(*parameters));
  HALYARD_TRY(track, capture::mp4_track(*parameters));
  color_range = parameters->color_range;
  encoder = std::move(opened);
  return {};
}

Result<VideoSegment> VideoStreamWriter::Impl::encode(const Tensor& image, microseconds time) {
  if (!encoder) HALYARD_RETURN_IF_ERROR(open_encoder(image));
  HALYARD_TRY(const capture::FramePtr frame, capture::encoder_frame(image, encoder->input()));
  frame->pts = time.count();
  frame->color_range = color_range;
  if (is_key_asked || clock.wants_key(time)) frame->pict_type = AV_PICTURE_TYPE_I;
  HALYARD_RETURN_IF_ERROR(encoder->send(frame.get()));
  HALYARD_TRY(const bool is_there, encoder->receive(*packet));
  if (!is_there) return fail(Errc::os, "video: encoder keeps an image back", "{}", encoder_name);
  is_key_asked = false;
  VideoSegment out = fragment(time);
  ffmpeg().av_packet_unref(packet.get());
  return out;
}

VideoSegment VideoStreamWriter::Impl::fragment(microseconds time) {
  const bool is_key = (packet->flags & AV_PKT_FLAG_KEY) != 0;
  clock.add(time, is_key);
  const microseconds duration = clock.duration();
  const capture::Mp4Sample sample{++fragments, static_cast<std::uint64_t>(time.count()),
                                  static_cast<std::uint32_t>(duration.count()), is_key};
  return {capture::mp4_fragment(sample, {packet->data, static_cast<std::size_t>(packet->size)}),
          is_key, time, duration};
}

VideoStreamWriter::VideoStreamWriter(std::unique_ptr<Impl> impl) noexcept
    : impl_(std::move(impl)) {}
VideoStreamWriter::VideoStreamWriter(VideoStreamWriter&&) noexcept = default;
VideoStreamWriter& VideoStreamWriter::operator=(VideoStreamWriter&&) noexcept = default;
VideoStreamWriter::~VideoStreamWriter() = default;

Result<VideoStreamWriter> VideoStreamWriter::create(Size size, const VideoStreamOptions& options) {
  trace::Span span("capture.create_stream");
  span.arg("width", size.width).arg("height", size.height).arg("rate", options.rate);
  HALYARD_RETURN_IF_ERROR(check_stream(size, options));
  HALYARD_RETURN_IF_ERROR(capture::load_ffmpeg());
  auto impl = std::make_unique<Impl>(size, options);
  HALYARD_TRY(impl->encoder_name, capture::choose_h264_encoder(options.encoder));
  if (ffmpeg().av_d2q(options.rate, largest_rate_part).num <= 0)
    return fail(Errc::invalid_argument, "rate is too small", "{}", options.rate);
  return VideoStreamWriter(std::move(impl));
}

Result<VideoSegment> VideoStreamWriter::write(const Tensor& image, std::chrono::nanoseconds time) {
  trace::Span span("capture.write_stream");
  span.arg("width", image.width()).arg("height", image.height());
  Impl& impl = *impl_;
  if (impl.failed) return *impl.failed;
  const auto at = std::chrono::floor<microseconds>(time);
  HALYARD_RETURN_IF_ERROR(impl.check(image, at));
  auto out = impl.encode(image, at);
  if (!out && out.error().code != Errc::unsupported) impl.failed = out.error();
  return out;
}

void VideoStreamWriter::ask_key() noexcept {
  impl_->is_key_asked = true;
}
const std::string& VideoStreamWriter::initialization() const noexcept {
  return impl_->track.initialization;
}
const std::string& VideoStreamWriter::mime_type() const noexcept {
  return impl_->track.mime_type;
}
std::string_view VideoStreamWriter::encoder() const noexcept {
  return impl_->encoder_name;
}

}  // namespace halyard

#endif
