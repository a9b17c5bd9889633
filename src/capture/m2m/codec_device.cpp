// SPDX-License-Identifier: Apache-2.0
// VIDIOC_DECODER_CMD, ENCODER_CMD, SUBSCRIBE_EVENT, DQEVENT and G_SELECTION.
#include "capture/m2m/codec_device.h"

#include <algorithm>
#include <cerrno>

#include "base/text/format_error.h"
#include "capture/v4l2/camera_formats.h"
#include "halyard/threads.h"

namespace halyard::capture {
namespace {

// The code that a queue offers for a codec; nullopt: none.
std::optional<std::uint32_t> offered_code(const CameraDevice& queue, VideoCodec codec) {
  for (const CameraFormat& format : list_formats(queue))
    if (codec_from_v4l2(format.fourcc) == codec) return format.fourcc;
  return std::nullopt;
}

Result<CodecNode> examine_node(const std::string& path, VideoCodec codec, bool is_encoder) {
  HALYARD_TRY(auto device, CameraDevice::open_codec(v4l2_calls(), path));
  const auto code = offered_code(*device->queue(!is_encoder), codec);
  if (!code)
    return fail(
        Errc::unsupported,
        is_encoder ? "path: the device does not encode this" : "path: it does not decode this",
        "{}: {}", path, to_string(codec));
  return CodecNode{std::move(device), *code};
}

}  // namespace

Result<CodecNode> open_codec_node(const std::string& path, VideoCodec codec, bool is_encoder) {
  if (!path.empty()) return examine_node(path, codec, is_encoder);
  std::optional<Error> refused;
  for (const std::string& node : v4l2_calls().nodes()) {
    auto found = examine_node(node, codec, is_encoder);
    if (found) return found;
    if (found.error().code != Errc::unsupported && !refused) refused = found.error();
  }
  if (refused) return *refused;
  return fail(Errc::not_found,
              is_encoder ? "codec: no device here encodes it" : "codec: no device here decodes it",
              "{}", to_string(codec));
}

Status command_codec(const CameraDevice& device, bool is_encoder, bool is_stop) {
  v4l2_decoder_cmd decoder{};
  v4l2_encoder_cmd encoder{};
  decoder.cmd = is_stop ? V4L2_DEC_CMD_STOP : V4L2_DEC_CMD_START;
  encoder.cmd = is_stop ? V4L2_ENC_CMD_STOP : V4L2_ENC_CMD_START;
  const int failed = is_encoder ? device.call(VIDIOC_ENCODER_CMD, &encoder)
                                : device.call(VIDIOC_DECODER_CMD, &decoder);
  if (failed != 0) return device.error("driver: refuses to end or begin a stream", failed);
  return {};
}

void subscribe_changes(const CameraDevice& device) {
  for (const std::uint32_t type : {V4L2_EVENT_SOURCE_CHANGE, V4L2_EVENT_EOS}) {
    v4l2_event_subscription wanted{};
    wanted.type = type;
    device.call(VIDIOC_SUBSCRIBE_EVENT, &wanted);
  }
}

bool take_changes(const CameraDevice& device) {
  constexpr int most = 64;  // more than a driver queues
  bool is_changed = false;
  v4l2_event event{};
  for (int n = 0; n < most && device.call(VIDIOC_DQEVENT, &event) == 0; ++n)
    is_changed = is_changed || (event.type == V4L2_EVENT_SOURCE_CHANGE &&
                                (event.u.src_change.changes & V4L2_EVENT_SRC_CH_RESOLUTION) != 0);
  return is_changed;
}

Region visible_part(const CameraDevice& queue, const DriverFormat& format) {
  const auto width = static_cast<int>(format.width);
  const auto height = static_cast<int>(format.height);
  const Region whole{0, 0, width, height};
  v4l2_selection selection{};
  // Rectangles have the type of the API with one plane; drivers before Linux 4.13 take their own.
  selection.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  selection.target = V4L2_SEL_TGT_COMPOSE;
  int failed = queue.call(VIDIOC_G_SELECTION, &selection);
  if (failed == EINVAL && queue.is_multiplanar()) {
    selection.type = V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE;
    failed = queue.call(VIDIOC_G_SELECTION, &selection);
  }
  const v4l2_rect& r = selection.r;
  const bool is_inside = r.left >= 0 && r.top >= 0 && r.width > 0 && r.height > 0 &&
                         std::int64_t{r.left} + r.width <= width &&
                         std::int64_t{r.top} + r.height <= height;
  if (failed != 0 || !is_inside) return whole;
  return {r.left, r.top, static_cast<int>(r.width), static_cast<int>(r.height)};
}

std::uint32_t needed_buffers(const CameraDevice& device, std::uint32_t control) {
  constexpr std::int32_t usual = 2;
  constexpr std::int32_t most = 24;
  v4l2_control found{control, 0};
  if (device.call(VIDIOC_G_CTRL, &found) != 0) return usual;
  return static_cast<std::uint32_t>(std::clamp(found.value, 1, most));
}

Status check_codec_process(std::uint32_t process) {
  if (fork_generation() == process) return {};
  return fail(Errc::unsupported, "codec: a child of fork() cannot use it");
}

Error codec_late(const std::string& path, std::chrono::milliseconds timeout,
                 const CameraStream& stream, const char* held_all) {
  if (held_all != nullptr)
    return fail(Errc::exhausted, held_all, "{}: {} buffers, {} ms", path, stream.buffer_count(),
                timeout.count());
  return fail(Errc::timeout, "codec: the driver has given nothing in time", "{}: {} ms", path,
              timeout.count());
}

CodecWait::CodecWait(CameraWait& wait, std::chrono::milliseconds timeout)
    : wait_(wait),
      is_endless_(timeout < std::chrono::milliseconds::zero()),
      end_(std::chrono::steady_clock::now() + (is_endless_ ? std::chrono::hours(1) : timeout)) {}

bool CodecWait::is_over() const noexcept {
  return !is_endless_ && std::chrono::steady_clock::now() >= end_;
}

// poll() on a device without work is an error at once, always; then only a buffer that comes back
// can end the wait.
Status CodecWait::sleep(const CameraDevice& device, bool has_work) {
  if (wait_.take_cancel())
    return fail(Errc::cancelled, "codec: cancel() was called", "{}", device.path());
  if (has_work && !wait_.is_watching())
    HALYARD_RETURN_IF_ERROR(wait_.watch(device.fd(), EPOLLIN | EPOLLPRI | EPOLLOUT));
  if (!has_work) wait_.unwatch();
  using std::chrono::milliseconds;
  const auto left = is_endless_
                        ? std::chrono::hours(1)
                        : std::chrono::ceil<milliseconds>(end_ - std::chrono::steady_clock::now());
  HALYARD_TRY(const bool has_failed, wait_.wait(std::max(left, milliseconds(0))));
  if (has_failed) return device.error("", EIO);
  if (wait_.take_cancel())
    return fail(Errc::cancelled, "codec: cancel() was called", "{}", device.path());
  return {};
}

}  // namespace halyard::capture
