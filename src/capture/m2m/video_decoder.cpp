// SPDX-License-Identifier: Apache-2.0
// VideoDecoder: the protocol of stateful decoders
// (Documentation/userspace-api/media/v4l/dev-decoder.rst of the kernel).
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <deque>
#include <utility>

#include "base/local.h"
#include "base/text/format_error.h"
#include "capture/m2m/codec_device.h"
#include "capture/m2m/codec_input.h"
#include "capture/m2m/decoder_setup.h"
#include "capture/v4l2/camera_images.h"
#include "halyard/log.h"
#include "halyard/threads.h"
#include "halyard/trace.h"
#include "halyard/video_codec.h"

namespace halyard {

using capture::CameraDevice;
using capture::CameraStream;
using capture::CameraWait;
using capture::CodecInput;
using capture::CodecWait;
using capture::DriverFormat;
using capture::FilledBuffer;
using std::chrono::milliseconds;

struct HALYARD_LOCAL VideoDecoder::Impl {
  Impl(const VideoDecoderOptions& wanted, std::shared_ptr<CameraWait> shared)
      : options(wanted),
        wait(std::move(shared)),
        input(wait),
        stream(std::make_shared<CameraStream>(wait, false)),
        images(Memory::automatic) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    ready.clear();
    stream->stop();
  }

  Status start(capture::CodecNode node);
  Status collect();
  Status take_images();
  Status take_image(const FilledBuffer& filled);
  Result<bool> finish_run();
  Status set_up();
  Result<DriverFormat> settle_format(const CameraDevice& queue) const;
  void note_format(const DriverFormat& frame, const CameraMode& mode, const Region& visible);
  Status resume();
  Result<bool> send(const VideoPacket& packet, milliseconds timeout);
  Result<bool> hand_over(const VideoPacket& packet, std::uint32_t index);
  Result<std::optional<DecodedImage>> next(milliseconds timeout);
  Status flush();
  bool has_work() const noexcept {
    return input.queued() > 0 || (stream->is_running() && !is_starved());
  }
  bool is_starved() const noexcept { return stream->is_running() && stream->is_starved(); }
  /// Whether the end is reached without any image.
  bool is_empty_end() const noexcept {
    return is_draining && !stream->is_running() && !is_changing && input.queued() == 0;
  }
  Error late(milliseconds timeout) const;

  const std::uint32_t process = fork_generation();
  VideoDecoderOptions options;
  std::string path;
  std::shared_ptr<CameraWait> wait;
  std::unique_ptr<CameraDevice> device;  ///< the queue that the driver fills
  CodecInput input;
  std::shared_ptr<CameraStream> stream;
  capture::CameraImages images;
  std::optional<DecodedFormat> format;
  std::deque<DecodedImage> ready;

  bool is_changing = false;  ///< the driver has told of a new format, which is not set up yet
  bool has_last = false;     ///< the driver's last image of this run is out
  bool is_draining = false;
  bool is_finished = false;
  bool has_sent = false;  ///< a packet since the beginning, drain or flush

  struct {
    std::atomic<std::uint64_t> packets{0}, images{0}, damaged{0}, refused{0}, copies{0}, formats{0};
  } counts;
};

Status VideoDecoder::Impl::start(capture::CodecNode node) {
  path = node.device->path();
  device = std::move(node.device);
  auto queue = device->queue(true);
  capture::subscribe_changes(*queue);
  capture::FormatWish wish;
  wish.size_bytes = std::max(options.packet_bytes, capture::min_packet_bytes);
  HALYARD_TRY(const DriverFormat now, queue->format());
  const std::size_t width = options.width == 0 ? now.width : options.width;
  const std::size_t height = options.height == 0 ? now.height : options.height;
  HALYARD_TRY(const DriverFormat answer, queue->set_format(node.fourcc, width, height, 0, wish));
  if (answer.fourcc != node.fourcc || answer.planes.size() != 1)
    return fail(Errc::unsupported, "codec: its driver chooses another format", "{}: {}", path,
                fourcc_to_string(answer.fourcc));
  return input.start(std::move(queue), answer, options.packets, true);
}

// All that the driver has done since the last call: packets read, images, changes, the end.
Status VideoDecoder::Impl::collect() {
  HALYARD_RETURN_IF_ERROR(input.reclaim());
  counts.refused.fetch_add(input.take_refused(), std::memory_order_relaxed);
  for (bool has_begun = true; has_begun;) {
    HALYARD_RETURN_IF_ERROR(take_images());
    // The event comes before the last image, so it is seen now if that is.
    if (capture::take_changes(*device)) is_changing = true;
    if (is_changing && !has_last) HALYARD_RETURN_IF_ERROR(take_images());
    HALYARD_TRY(has_begun, finish_run());
  }
  return input.reclaim();
}

Status VideoDecoder::Impl::take_images() {
  while (stream->is_running() && !has_last) {
    auto filled = stream->take();
    // After the last buffer a driver answers EPIPE.
    if (!filled && filled.error().os_errno == EPIPE) has_last = true;
    if (!filled) return has_last ? Status() : Status(filled.error());
    if (!*filled) break;
    HALYARD_RETURN_IF_ERROR(take_image(**filled));
  }
  return {};
}

Status VideoDecoder::Impl::take_image(const FilledBuffer& filled) {
  has_last = (filled.flags & V4L2_BUF_FLAG_LAST) != 0;
  const bool is_image = filled.end_bytes[0] > 0 && !filled.is_damaged;
  if (filled.is_damaged) counts.damaged.fetch_add(1, std::memory_order_relaxed);
  // The mark of the end stays here until the next run.
  if (!is_image) return has_last ? Status() : stream->put_back(filled.index);
  HALYARD_TRY(Tensor image, images.make(*stream, filled));
  const Region whole{0, 0, static_cast<int>(image.width()), static_cast<int>(image.height())};
  if (format->visible != whole) {
    HALYARD_TRY(image, image.slice(format->visible));
  }
  if (format->is_copied) counts.copies.fetch_add(1, std::memory_order_relaxed);
  ready.push_back(
      {std::move(image), filled.timestamp, (filled.flags & V4L2_BUF_FLAG_KEYFRAME) != 0});
  return {};
}

// Does what follows the last image of a run. True: another run has begun.
Result<bool> VideoDecoder::Impl::finish_run() {
  if (is_changing && (has_last || !stream->is_running())) {
    HALYARD_RETURN_IF_ERROR(set_up());
    return true;
  }
  if (!has_last || is_finished) return false;
  is_finished = is_draining;
  // Without a drain the stream has a mark of its end, and continues.
  if (!is_draining) HALYARD_RETURN_IF_ERROR(resume());
  return !is_draining;
}

Result<DriverFormat> VideoDecoder::Impl::settle_format(const CameraDevice& queue) const {
  HALYARD_TRY(DriverFormat frame, queue.format());
  HALYARD_TRY(const std::uint32_t fourcc, capture::choose_frame_code(queue, frame, options.format));
  if (fourcc != frame.fourcc) {
    HALYARD_TRY(frame, queue.set_format(fourcc, frame.width, frame.height, 0));
  }
  if (frame.fourcc != fourcc || frame.planes.empty())
    return fail(Errc::unsupported, "codec: its driver chooses another format", "{}: {}", path,
                fourcc_to_string(frame.fourcc));
  return frame;
}

// Sets up buffers for images of the format that the driver has read from the stream. Images of
// before keep their buffers, which the driver forgets.
Status VideoDecoder::Impl::set_up() {
  trace::Span span("capture.set_up_decoder");
  is_changing = true;  // until it has succeeded
  stream->stop();
  auto queue = device->queue(false);
  HALYARD_TRY(const DriverFormat frame, settle_format(*queue));
  const Region visible = capture::visible_part(*queue, frame);
  const std::uint32_t needed =
      capture::needed_buffers(*queue, V4L2_CID_MIN_BUFFERS_FOR_CAPTURE) + options.images;
  const Status started = stream->start(std::move(queue), frame, std::min(needed, 32U), false);
  if (!started && started.error().os_errno == EBUSY)
    return fail(Errc::busy, "codec: its driver wants the images of the old format back first", "{}",
                path);
  HALYARD_RETURN_IF_ERROR(started);
  CameraMode mode;
  images.prepare(*stream, frame, mode);
  note_format(frame, mode, visible);
  is_changing = has_last = false;
  return {};
}

void VideoDecoder::Impl::note_format(const DriverFormat& frame, const CameraMode& mode,
                                     const Region& visible) {
  DecodedFormat found;
  found.width = static_cast<std::size_t>(visible.width);
  found.height = static_cast<std::size_t>(visible.height);
  found.visible = visible;
  found.coded_width = frame.width;
  found.coded_height = frame.height;
  found.fourcc = frame.fourcc;
  found.layout = mode.layout;
  found.colorimetry = mode.colorimetry;
  found.buffers = stream->buffer_count();
  found.is_copied = mode.transfer == CameraTransfer::copied;
  if (found.is_copied && !format)
    log(LogLevel::warn, "capture", path + ": the driver exports no buffers; images are copied");
  format = found;
  counts.formats.fetch_add(1, std::memory_order_relaxed);
}

// Continues after the last image of a run. Stopping and starting the queue does that on all
// drivers; after V4L2_DEC_CMD_START alone, vicodec still tells that the last buffer is out.
Status VideoDecoder::Impl::resume() {
  has_last = is_draining = is_finished = has_sent = false;
  if (stream->is_running()) return stream->restart();
  return capture::command_codec(*device, false, false);
}

Error VideoDecoder::Impl::late(milliseconds timeout) const {
  const char* const held =
      "codec: the caller holds all images; release some or raise VideoDecoderOptions::images";
  return capture::codec_late(path, timeout, *stream, is_starved() ? held : nullptr);
}

Result<bool> VideoDecoder::Impl::hand_over(const VideoPacket& packet, std::uint32_t index) {
  HALYARD_RETURN_IF_ERROR(input.send(index, packet.bytes, packet.timestamp));
  has_sent = true;
  counts.packets.fetch_add(1, std::memory_order_relaxed);
  return true;
}

Result<bool> VideoDecoder::Impl::send(const VideoPacket& packet, milliseconds timeout) {
  HALYARD_RETURN_IF_ERROR(capture::check_codec_process(process));
  if (packet.bytes.empty()) return fail(Errc::invalid_argument, "packet: it has no bytes");
  CodecWait waiting(*wait, timeout);
  for (;;) {
    HALYARD_RETURN_IF_ERROR(collect());
    const bool is_over = is_finished || is_empty_end();
    if (is_draining && !is_over) return false;
    if (is_draining && ready.empty()) HALYARD_RETURN_IF_ERROR(resume());
    if (is_draining) return false;
    if (const auto index = input.free_index()) return hand_over(packet, *index);
    if (!ready.empty()) return false;
    if (waiting.is_over()) return late(timeout);
    HALYARD_RETURN_IF_ERROR(waiting.sleep(*device, has_work()));
  }
}

Result<std::optional<DecodedImage>> VideoDecoder::Impl::next(milliseconds timeout) {
  HALYARD_RETURN_IF_ERROR(capture::check_codec_process(process));
  CodecWait waiting(*wait, timeout);
  for (;;) {
    Status done = collect();
    // Images of before an error are not lost.
    if (!ready.empty()) {
      std::optional<DecodedImage> first(std::move(ready.front()));
      ready.pop_front();
      counts.images.fetch_add(1, std::memory_order_relaxed);
      return first;
    }
    const bool may_retry = !done && done.error().code == Errc::busy;
    if (!done && (!may_retry || waiting.is_over())) return done.error();
    if (is_finished || (is_empty_end() && !has_sent)) return std::optional<DecodedImage>();
    if (is_empty_end())
      return fail(Errc::malformed, "packets: the driver has found no stream in them", "{}", path);
    if (waiting.is_over()) return late(timeout);
    HALYARD_RETURN_IF_ERROR(waiting.sleep(*device, has_work()));
  }
}

Status VideoDecoder::Impl::flush() {
  HALYARD_RETURN_IF_ERROR(capture::check_codec_process(process));
  ready.clear();
  HALYARD_RETURN_IF_ERROR(input.restart());
  if (capture::take_changes(*device)) is_changing = true;
  if (is_changing) {
    HALYARD_RETURN_IF_ERROR(set_up());
  } else if (stream->is_running()) {
    HALYARD_RETURN_IF_ERROR(stream->restart());
  }
  is_draining = is_finished = has_last = has_sent = false;
  return {};
}

VideoDecoder::VideoDecoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
VideoDecoder::VideoDecoder(VideoDecoder&&) noexcept = default;
VideoDecoder& VideoDecoder::operator=(VideoDecoder&&) noexcept = default;
VideoDecoder::~VideoDecoder() = default;

Result<VideoDecoder> VideoDecoder::open(const VideoDecoderOptions& options) {
  trace::Span span("capture.open_decoder");
  HALYARD_RETURN_IF_ERROR(capture::check_decoder_options(options));
  HALYARD_TRY(auto node, capture::open_codec_node(options.path, options.codec, false));
  auto wait = std::make_shared<CameraWait>();
  HALYARD_RETURN_IF_ERROR(wait->create());
  auto impl = std::make_unique<Impl>(options, std::move(wait));
  HALYARD_RETURN_IF_ERROR(impl->start(std::move(node)));
  return VideoDecoder(std::move(impl));
}

const std::string& VideoDecoder::path() const noexcept {
  return impl_->path;
}

const std::optional<DecodedFormat>& VideoDecoder::format() const noexcept {
  return impl_->format;
}

Result<bool> VideoDecoder::send(const VideoPacket& packet, milliseconds timeout) {
  trace::Span span("capture.send_packet");
  return impl_->send(packet, timeout);
}

Result<std::optional<DecodedImage>> VideoDecoder::next(milliseconds timeout) {
  trace::Span span("capture.next_decoded");
  return impl_->next(timeout);
}

bool VideoDecoder::is_ready() {
  const Status done = impl_->collect();
  return !done || !impl_->ready.empty() || impl_->is_finished;
}

Status VideoDecoder::drain() {
  HALYARD_RETURN_IF_ERROR(capture::check_codec_process(impl_->process));
  if (impl_->is_draining) return {};
  HALYARD_RETURN_IF_ERROR(capture::command_codec(*impl_->device, false, true));
  impl_->is_draining = true;
  return {};
}

Status VideoDecoder::flush() {
  trace::Span span("capture.flush_decoder");
  return impl_->flush();
}

void VideoDecoder::cancel() noexcept {
  impl_->wait->cancel();
}

VideoCodecStats VideoDecoder::stats() const {
  const auto& counts = impl_->counts;
  const auto get = [](const auto& value) { return value.load(std::memory_order_relaxed); };
  return {get(counts.packets), get(counts.images),  get(counts.damaged),  get(counts.refused),
          get(counts.copies),  get(counts.formats), impl_->stream->held()};
}

}  // namespace halyard
