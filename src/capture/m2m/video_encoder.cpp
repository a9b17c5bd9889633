// SPDX-License-Identifier: Apache-2.0
// VideoEncoder: the protocol of stateful encoders
// (Documentation/userspace-api/media/v4l/dev-encoder.rst of the kernel).
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <deque>
#include <utility>

#include "base/local.h"
#include "base/text/format_error.h"
#include "capture/m2m/codec_input.h"
#include "capture/m2m/encoder_setup.h"
#include "capture/v4l2/camera_controls.h"
#include "halyard/enumerators.h"
#include "halyard/threads.h"
#include "halyard/trace.h"
#include "halyard/video_codec.h"

namespace halyard {

using capture::CameraDevice;
using capture::CameraStream;
using capture::CameraWait;
using capture::CodecInput;
using capture::CodecWait;
using capture::FilledBuffer;
using std::chrono::milliseconds;

std::string_view to_string(EncoderMemory memory) noexcept {
  return enumerator_name(memory, "unknown");
}

namespace {

// The exported or mapped memory of a plane, with the lease of its buffer.
Result<std::shared_ptr<Buffer>> plane_memory(const CameraStream& own, std::uint32_t index,
                                             std::size_t plane, std::shared_ptr<void> lease) {
  if (!own.is_mapped()) return std::shared_ptr<Buffer>(lease, own.memory(index).at(plane).get());
  return wrap_memory(own.maps(index).at(plane).bytes(), [lease = std::move(lease)] {});
}

}  // namespace

struct HALYARD_LOCAL VideoEncoder::Impl {
  Impl(VideoEncoderOptions wanted, std::shared_ptr<CameraWait> shared)
      : options(std::move(wanted)),
        wait(std::move(shared)),
        input(wait),
        stream(std::make_shared<CameraStream>(wait, false)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    ready.clear();
    stream->stop();
  }

  Status start(capture::CodecNode node);
  Status start_input(const Tensor* first);
  Status import_images(const Tensor& first);
  Status collect();
  Status take_packet(const FilledBuffer& filled);
  Status resume();
  Result<std::optional<Tensor>> lend(milliseconds timeout);
  Result<Tensor> lent_image(std::uint32_t index);
  std::optional<std::uint32_t> index_of(const Tensor& image) const;
  Result<bool> encode(const Tensor& image, std::chrono::nanoseconds timestamp,
                      milliseconds timeout);
  Status hand_over(const Tensor& image, std::uint32_t index, std::chrono::nanoseconds timestamp);
  Result<std::optional<VideoPacket>> next(milliseconds timeout);
  Status check_image(const Tensor& image) const;
  bool has_work() const noexcept { return input.queued() > 0 || !stream->is_starved(); }
  Error late(milliseconds timeout) const;

  const std::uint32_t process = fork_generation();
  VideoEncoderOptions options;
  std::string path;
  std::shared_ptr<CameraWait> wait;
  std::unique_ptr<CameraDevice> device;  ///< the queue that the driver fills
  CodecInput input;
  std::shared_ptr<CameraStream> stream;
  capture::EncoderFormats formats;
  EncoderMemory memory = EncoderMemory::automatic;
  std::deque<VideoPacket> ready;

  bool has_last = false;
  bool is_draining = false;

  struct {
    std::atomic<std::uint64_t> packets{0}, images{0}, damaged{0}, refused{0}, copies{0};
  } counts;
};

Status VideoEncoder::Impl::start(capture::CodecNode node) {
  HALYARD_TRY(formats, capture::set_up_encoder(node, options));
  path = node.device->path();
  device = std::move(node.device);
  capture::subscribe_changes(*device);
  return stream->start(device->queue(false), formats.coded, options.packets, true);
}

// Buffers for images are made when it is known where these lie.
Status VideoEncoder::Impl::start_input(const Tensor* first) {
  if (memory != EncoderMemory::automatic) return {};
  // Memory that is no DMA-BUF is copied, unless the caller forbids that.
  const bool may_import =
      first != nullptr &&
      (options.memory == EncoderMemory::caller_buffers ||
       (options.memory == EncoderMemory::automatic && first->memory() == Memory::dma));
  const Status imported = may_import ? import_images(*first) : Status();
  if (may_import && imported) return {};
  if (options.memory == EncoderMemory::caller_buffers)
    return may_import ? imported
                      : fail(Errc::unsupported, "memory: with caller_buffers the driver has none");
  auto queue = device->queue(true);
  HALYARD_RETURN_IF_ERROR(input.start(std::move(queue), formats.raw, options.images, false));
  memory = EncoderMemory::driver_buffers;
  return {};
}

Status VideoEncoder::Impl::import_images(const Tensor& first) {
  auto queue = device->queue(true);
  const auto raw = capture::set_raw_stride(*queue, options, formats.raw, first.row_stride_bytes());
  HALYARD_RETURN_IF_ERROR(capture::check_readable(first, raw ? *raw : formats.raw));
  HALYARD_RETURN_IF_ERROR(input.start_importing(std::move(queue), *raw, options.images));
  formats.raw = *raw;
  memory = EncoderMemory::caller_buffers;
  return {};
}

Status VideoEncoder::Impl::collect() {
  HALYARD_RETURN_IF_ERROR(input.reclaim());
  counts.refused.fetch_add(input.take_refused(), std::memory_order_relaxed);
  while (!has_last) {
    auto filled = stream->take();
    if (!filled && filled.error().os_errno == EPIPE) has_last = true;
    if (!filled) return has_last ? Status() : Status(filled.error());
    if (!*filled) break;
    HALYARD_RETURN_IF_ERROR(take_packet(**filled));
  }
  capture::take_changes(*device);
  return {};
}

Status VideoEncoder::Impl::take_packet(const FilledBuffer& filled) {
  has_last = (filled.flags & V4L2_BUF_FLAG_LAST) != 0;
  const auto room = stream->maps(filled.index).at(0).bytes();
  const std::size_t end = std::min(filled.end_bytes[0], room.size());
  const std::size_t begin = std::min(filled.offset_bytes[0], end);
  if (filled.is_damaged) counts.damaged.fetch_add(1, std::memory_order_relaxed);
  const bool is_packet = end > begin && !filled.is_damaged;
  // The mark of the end stays here until the next run.
  if (!is_packet) return has_last ? Status() : stream->put_back(filled.index);
  ready.push_back({room.subspan(begin, end - begin), filled.timestamp,
                   (filled.flags & V4L2_BUF_FLAG_KEYFRAME) != 0, stream->lend(filled.index)});
  return {};
}

// Begins a new stream.
Status VideoEncoder::Impl::resume() {
  has_last = is_draining = false;
  return stream->restart();
}

Error VideoEncoder::Impl::late(milliseconds timeout) const {
  const char* const held =
      "codec: the caller holds all packets; release some or raise VideoEncoderOptions::packets";
  return capture::codec_late(path, timeout, *stream, stream->is_starved() ? held : nullptr);
}

Result<Tensor> VideoEncoder::Impl::lent_image(std::uint32_t index) {
  CameraStream& own = input.stream();
  const std::shared_ptr<void> lease = own.lend(index);
  std::array<Tensor::PlaneSource, 4> planes;
  const std::size_t count = std::min(formats.raw.planes.size(), planes.size());
  for (std::size_t i = 0; i < count; ++i) {
    HALYARD_TRY(planes[i].buffer, plane_memory(own, index, i, lease));
    planes[i].stride_bytes = formats.raw.planes[i].stride_bytes;
  }
  HALYARD_TRY(Tensor image, Tensor::wrap_image(std::span(planes).first(count), formats.raw.width,
                                               formats.raw.height, options.format));
  image.set_colorimetry(options.colorimetry);
  const bool is_whole = formats.raw.width == options.width && formats.raw.height == options.height;
  if (is_whole) return image;
  return image.slice({0, 0, static_cast<int>(options.width), static_cast<int>(options.height)});
}

Result<std::optional<Tensor>> VideoEncoder::Impl::lend(milliseconds timeout) {
  HALYARD_RETURN_IF_ERROR(capture::check_codec_process(process));
  HALYARD_RETURN_IF_ERROR(start_input(nullptr));
  if (memory == EncoderMemory::caller_buffers)
    return fail(Errc::unsupported, "memory: with caller_buffers the driver has none");
  if (input.stream().is_mapped())
    return fail(Errc::unsupported, "driver: exports no buffers", "{}", path);
  CodecWait waiting(*wait, timeout);
  for (;;) {
    HALYARD_RETURN_IF_ERROR(collect());
    if (const auto index = input.free_index()) {
      HALYARD_TRY(Tensor lent, lent_image(*index));
      return std::optional(std::move(lent));
    }
    if (!ready.empty()) return std::optional<Tensor>();
    if (waiting.is_over())
      return fail(Errc::exhausted, "image: all buffers of the driver are in use",
                  "{}: {} buffers, {} ms; take packets, or release images", path,
                  input.stream().buffer_count(), timeout.count());
    HALYARD_RETURN_IF_ERROR(waiting.sleep(*device, has_work()));
  }
}

// The buffer that image() has lent.
std::optional<std::uint32_t> VideoEncoder::Impl::index_of(const Tensor& image) const {
  if (memory != EncoderMemory::driver_buffers || input.stream().is_mapped()) return std::nullopt;
  for (std::uint32_t i = 0; i < input.stream().buffer_count(); ++i)
    if (input.stream().memory(i).at(0).get() == image.buffer().get()) return i;
  return std::nullopt;
}

Status VideoEncoder::Impl::check_image(const Tensor& image) const {
  const bool is_right = image.is_image() && image.format() == options.format &&
                        image.dtype() == DType::u8 && image.width() == options.width &&
                        image.height() == options.height;
  if (is_right) return {};
  return fail(Errc::invalid_argument, "image: must have the encoder's size and format",
              "{}x{} {}, not {}x{} {}", image.width(), image.height(),
              image.format() ? to_string(*image.format()) : "no image", options.width,
              options.height, to_string(options.format));
}

Status VideoEncoder::Impl::hand_over(const Tensor& image, std::uint32_t index,
                                     std::chrono::nanoseconds timestamp) {
  if (memory == EncoderMemory::caller_buffers) {
    HALYARD_RETURN_IF_ERROR(capture::check_readable(image, formats.raw));
    return input.send_imported(index, image, timestamp);
  }
  if (index_of(image) && input.is_queued(index))
    return fail(Errc::busy, "image: the encoder reads it already", "{}", path);
  if (index_of(image)) return input.send_own(index, image, timestamp);
  HALYARD_TRY(Tensor copied, lent_image(index));
  HALYARD_RETURN_IF_ERROR(copy(image, copied));
  counts.copies.fetch_add(1, std::memory_order_relaxed);
  return input.send_own(index, copied, timestamp);
}

Result<bool> VideoEncoder::Impl::encode(const Tensor& image, std::chrono::nanoseconds timestamp,
                                        milliseconds timeout) {
  HALYARD_RETURN_IF_ERROR(capture::check_codec_process(process));
  HALYARD_RETURN_IF_ERROR(check_image(image));
  HALYARD_RETURN_IF_ERROR(start_input(&image));
  CodecWait waiting(*wait, timeout);
  for (;;) {
    HALYARD_RETURN_IF_ERROR(collect());
    const bool is_over = is_draining && has_last && ready.empty();
    if (is_over) HALYARD_RETURN_IF_ERROR(resume());
    if (is_draining) return false;
    const auto own = index_of(image);
    if (const auto index = own ? own : input.free_index()) {
      HALYARD_RETURN_IF_ERROR(hand_over(image, *index, timestamp));
      counts.images.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
    if (!ready.empty()) return false;
    if (waiting.is_over()) return late(timeout);
    HALYARD_RETURN_IF_ERROR(waiting.sleep(*device, has_work()));
  }
}

Result<std::optional<VideoPacket>> VideoEncoder::Impl::next(milliseconds timeout) {
  HALYARD_RETURN_IF_ERROR(capture::check_codec_process(process));
  CodecWait waiting(*wait, timeout);
  for (;;) {
    const Status done = collect();
    if (!ready.empty()) {
      std::optional<VideoPacket> first(std::move(ready.front()));
      ready.pop_front();
      counts.packets.fetch_add(1, std::memory_order_relaxed);
      return first;
    }
    HALYARD_RETURN_IF_ERROR(done);
    // Before the first image there is no stream to end.
    if (is_draining && (has_last || memory == EncoderMemory::automatic))
      return std::optional<VideoPacket>();
    if (waiting.is_over()) return late(timeout);
    HALYARD_RETURN_IF_ERROR(waiting.sleep(*device, has_work()));
  }
}

VideoEncoder::VideoEncoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
VideoEncoder::VideoEncoder(VideoEncoder&&) noexcept = default;
VideoEncoder& VideoEncoder::operator=(VideoEncoder&&) noexcept = default;
VideoEncoder::~VideoEncoder() = default;

Result<VideoEncoder> VideoEncoder::open(const VideoEncoderOptions& options) {
  trace::Span span("capture.open_encoder");
  HALYARD_RETURN_IF_ERROR(capture::check_encoder_options(options));
  HALYARD_TRY(auto node, capture::open_codec_node(options.path, options.codec, true));
  auto wait = std::make_shared<CameraWait>();
  HALYARD_RETURN_IF_ERROR(wait->create());
  auto impl = std::make_unique<Impl>(options, std::move(wait));
  HALYARD_RETURN_IF_ERROR(impl->start(std::move(node)));
  return VideoEncoder(std::move(impl));
}

const std::string& VideoEncoder::path() const noexcept {
  return impl_->path;
}

std::size_t VideoEncoder::stride_bytes() const noexcept {
  return impl_->formats.raw.planes[0].stride_bytes;
}

EncoderMemory VideoEncoder::memory() const noexcept {
  return impl_->memory;
}

Result<std::optional<Tensor>> VideoEncoder::image(milliseconds timeout) {
  return impl_->lend(timeout);
}

Result<bool> VideoEncoder::encode(const Tensor& image, std::chrono::nanoseconds timestamp,
                                  bool is_key_frame, milliseconds timeout) {
  trace::Span span("capture.encode_image");
  if (is_key_frame)
    HALYARD_RETURN_IF_ERROR(
        capture::set_codec_control(*impl_->device, "is_key_frame: the encoder has no such control",
                                   V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME, 1));
  return impl_->encode(image, timestamp, timeout);
}

Result<std::optional<VideoPacket>> VideoEncoder::next(milliseconds timeout) {
  trace::Span span("capture.next_packet");
  return impl_->next(timeout);
}

bool VideoEncoder::is_ready() {
  const Status done = impl_->collect();
  return !done || !impl_->ready.empty() || (impl_->is_draining && impl_->has_last);
}

Status VideoEncoder::drain() {
  HALYARD_RETURN_IF_ERROR(capture::check_codec_process(impl_->process));
  if (impl_->is_draining) return {};
  if (impl_->memory != EncoderMemory::automatic)
    HALYARD_RETURN_IF_ERROR(capture::command_codec(*impl_->device, true, true));
  impl_->is_draining = true;
  return {};
}

void VideoEncoder::cancel() noexcept {
  impl_->wait->cancel();
}

VideoCodecStats VideoEncoder::stats() const {
  const auto& counts = impl_->counts;
  const auto get = [](const auto& value) { return value.load(std::memory_order_relaxed); };
  return {get(counts.packets),  get(counts.images), get(counts.damaged),
          get(counts.refused),  get(counts.copies), 0,
          impl_->stream->held()};
}

Result<std::vector<CameraControl>> VideoEncoder::controls() const {
  return capture::list_controls(*impl_->device);
}

Status VideoEncoder::set_control(std::string_view name, std::int64_t value) {
  return capture::write_control(*impl_->device, name, value);
}

Status VideoEncoder::set_control(std::string_view name, std::string_view entry) {
  return capture::write_control(*impl_->device, name, entry);
}

}  // namespace halyard
