// SPDX-License-Identifier: Apache-2.0
// Configures a camera of libcamera and runs its requests.
#include "capture/libcamera/session.h"

#include <libcamera/control_ids.h>
#include <libcamera/formats.h>
#include <linux/videodev2.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace halyard::libcamera_plugin {
namespace {

using libcamera::ColorSpace;
using libcamera::StreamRole;

constexpr double session_rate = 30;
constexpr double second_us = 1e6;

int result_of(int error, char* text, const char* what) {
  tell(text, std::string(what) + ": " + std::strerror(error < 0 ? -error : error));
  switch (-error) {
    case EBUSY:
      return HAL_CAPTURE_BUSY;
    case ENODEV:
      return HAL_CAPTURE_GONE;
    case EACCES:
    case EPERM:
      return HAL_CAPTURE_DENIED;
    case ENOMEM:
      return HAL_CAPTURE_NO_MEMORY;
    default:
      return HAL_CAPTURE_FAILED;
  }
}

// What libcamera's colour spaces are in the codes of V4L2.
void put_colors(const ColorSpace& space, hal_capture_mode& mode) {
  constexpr std::array<std::uint32_t, 4> primaries = {
      V4L2_COLORSPACE_RAW, V4L2_COLORSPACE_SMPTE170M, V4L2_COLORSPACE_REC709,
      V4L2_COLORSPACE_BT2020};
  constexpr std::array<std::uint32_t, 3> transfers = {V4L2_XFER_FUNC_NONE, V4L2_XFER_FUNC_SRGB,
                                                      V4L2_XFER_FUNC_709};
  constexpr std::array<std::uint32_t, 4> encodings = {V4L2_YCBCR_ENC_DEFAULT, V4L2_YCBCR_ENC_601,
                                                      V4L2_YCBCR_ENC_709, V4L2_YCBCR_ENC_BT2020};
  const auto entry = [](const auto& table, auto value) {
    const auto index = static_cast<std::size_t>(value);
    return index < table.size() ? table[index] : 0;
  };
  mode.colorspace = entry(primaries, space.primaries);
  mode.xfer_func = entry(transfers, space.transferFunction);
  mode.ycbcr_enc = entry(encodings, space.ycbcrEncoding);
  mode.quantization = space.range == ColorSpace::Range::Full ? V4L2_QUANTIZATION_FULL_RANGE
                                                             : V4L2_QUANTIZATION_LIM_RANGE;
}

}  // namespace

// The first role that the camera has; its sensor's raw data is the last resort.
Session::Session(CameraPtr camera) : camera_(std::move(camera)) {
  for (const StreamRole role : {StreamRole::VideoRecording, StreamRole::Viewfinder,
                                StreamRole::StillCapture, StreamRole::Raw}) {
    config_ = camera_->generateConfiguration({role});
    if (config_ && !config_->empty()) break;
    config_.reset();
  }
  if (!config_) return;
  for (const auto& format : config_->at(0).formats().pixelformats())
    if (format.modifier() == 0) formats_.push_back(format);
}

Session::~Session() {
  {
    const std::lock_guard lock(mutex_);
    if (is_running_) is_running_ = false;
  }
  if (is_acquired_) camera_->stop();  // does nothing for a camera that was not started
  camera_->requestCompleted.disconnect(this);
  camera_->disconnected.disconnect(this);
  requests_.clear();
  allocator_.reset();
  if (is_acquired_) camera_->release();
}

std::vector<libcamera::SizeRange> Session::sizes(std::size_t format) const {
  std::vector<libcamera::SizeRange> found;
  const auto& offered = config_->at(0).formats();
  const auto range = offered.range(formats_[format]);
  if (range.hStep > 0 && range.vStep > 0 && range.min != range.max) return {range};
  for (const libcamera::Size& size : offered.sizes(formats_[format]))
    found.emplace_back(size);
  return found;
}

int Session::configure(const hal_capture_wish& wish, hal_capture_mode& mode, char* text) {
  if (!config_ || frames_->fd() < 0) {
    tell(text, config_ ? "no descriptor for frames" : "the camera has no stream for video");
    return HAL_CAPTURE_FAILED;
  }
  if (const int failed = camera_->acquire(); failed != 0)
    return result_of(failed, text, "libcamera cannot acquire it");
  is_acquired_ = true;
  if (const int result = apply(wish, text); result != HAL_CAPTURE_OK) return result;
  if (const int result = make_requests(text); result != HAL_CAPTURE_OK) return result;
  const libcamera::StreamConfiguration& stream = config_->at(0);
  mode.width = stream.size.width;
  mode.height = stream.size.height;
  mode.rate = choose_rate(wish.rate);
  mode.buffers = static_cast<std::uint32_t>(requests_.size());
  mode.planes =
      static_cast<std::uint32_t>(allocator_->buffers(stream.stream()).front()->planes().size());
  mode.stride[0] = stream.stride;
  if (stream.colorSpace) put_colors(*stream.colorSpace, mode);
  return HAL_CAPTURE_OK;
}

int Session::apply(const hal_capture_wish& wish, char* text) {
  libcamera::StreamConfiguration& stream = config_->at(0);
  const auto format = std::find_if(formats_.begin(), formats_.end(), [&wish](const auto& one) {
    return one.fourcc() == wish.fourcc;
  });
  if (format == formats_.end()) {
    tell(text, "the camera does not offer the format");
    return HAL_CAPTURE_UNSUPPORTED;
  }
  stream.pixelFormat = *format;
  if (wish.width > 0) stream.size = {wish.width, wish.height};
  stream.bufferCount = wish.buffers;
  const libcamera::Size size = stream.size;
  const auto status = config_->validate();
  if (status == libcamera::CameraConfiguration::Invalid || stream.pixelFormat != *format ||
      stream.size != size) {
    tell(text, "libcamera offers " + stream.toString() + " instead");
    return HAL_CAPTURE_UNSUPPORTED;
  }
  if (const int failed = camera_->configure(config_.get()); failed != 0)
    return result_of(failed, text, "libcamera cannot configure it");
  return HAL_CAPTURE_OK;
}

int Session::make_requests(char* text) {
  libcamera::Stream* const stream = config_->at(0).stream();
  allocator_ = std::make_unique<libcamera::FrameBufferAllocator>(camera_);
  const int count = allocator_->allocate(stream);
  if (count <= 0) return result_of(count, text, "libcamera cannot allocate buffers");
  for (const auto& buffer : allocator_->buffers(stream)) {
    auto request = camera_->createRequest(requests_.size());
    if (!request || request->addBuffer(stream, buffer.get()) != 0) {
      tell(text, "libcamera makes no request");
      return HAL_CAPTURE_FAILED;
    }
    requests_.push_back(std::move(request));
  }
  return HAL_CAPTURE_OK;
}

// 0: the camera has no limits of a frame's duration, so that nobody can set the rate.
double Session::choose_rate(double wanted) {
  const auto& all = camera_->controls();
  first_controls_ = libcamera::ControlList(all);
  const auto limits = all.find(libcamera::controls::FRAME_DURATION_LIMITS);
  if (limits == all.end()) return 0;
  const auto& low = limits->second.min();
  const auto& high = limits->second.max();
  if (low.isArray() || low.type() != libcamera::ControlTypeInteger64 || high.isArray() ||
      high.type() != libcamera::ControlTypeInteger64)
    return 0;
  const auto shortest = std::max<std::int64_t>(low.get<std::int64_t>(), 1);
  const auto longest = std::max(high.get<std::int64_t>(), shortest);
  const double asked = second_us / (wanted > 0 ? wanted : session_rate);
  const auto duration = std::clamp(static_cast<std::int64_t>(asked), shortest, longest);
  const std::array<std::int64_t, 2> both = {duration, duration};
  first_controls_.set(libcamera::controls::FRAME_DURATION_LIMITS,
                      libcamera::ControlValue(libcamera::Span<const std::int64_t, 2>(both)));
  return second_us / static_cast<double>(duration);
}

int Session::buffer(std::uint32_t index, hal_capture_buffer& out) const {
  if (index >= requests_.size()) return HAL_CAPTURE_END;
  const auto& planes = requests_[index]->buffers().begin()->second->planes();
  if (planes.size() > HAL_CAPTURE_MAX_PLANES) return HAL_CAPTURE_UNSUPPORTED;
  for (std::size_t i = 0; i < planes.size(); ++i)
    out.planes[i] = {planes[i].fd.get(), planes[i].offset, planes[i].length};
  return HAL_CAPTURE_OK;
}

// libcamera may still call a slot when it is taken away, so each slot keeps what it uses.
int Session::start(char* text) {
  camera_->requestCompleted.connect(this, [frames = frames_](libcamera::Request* request) {
    const auto kept = frames;
    kept->complete(*request);
  });
  camera_->disconnected.connect(this, [frames = frames_] {
    const auto kept = frames;
    kept->end();
  });
  const std::lock_guard lock(mutex_);
  for (const auto& [id, value] : pending_)
    first_controls_.set(id, value);
  pending_.clear();
  if (const int failed = camera_->start(&first_controls_); failed != 0)
    return result_of(failed, text, "libcamera cannot start it");
  is_running_ = true;
  for (const auto& request : requests_)
    if (const int failed = camera_->queueRequest(request.get()); failed != 0)
      return result_of(failed, text, "libcamera takes no request");
  return HAL_CAPTURE_OK;
}

int Session::give_back(std::uint32_t index) {
  const std::lock_guard lock(mutex_);
  if (!is_running_ || index >= requests_.size()) return HAL_CAPTURE_FAILED;
  libcamera::Request& request = *requests_[index];
  request.reuse(libcamera::Request::ReuseBuffers);
  for (const auto& [id, value] : pending_)
    request.controls().set(id, value);
  pending_.clear();
  const int failed = camera_->queueRequest(&request);
  if (failed == 0) return HAL_CAPTURE_OK;
  return failed == -ENODEV ? HAL_CAPTURE_GONE : HAL_CAPTURE_FAILED;
}

std::vector<NumberControl> Session::controls() const {
  return number_controls(camera_->controls());
}

std::int64_t Session::value_of(const NumberControl& control) const {
  const std::lock_guard lock(mutex_);
  const auto found = values_.find(control.id->id());
  return found == values_.end() ? control.default_value : found->second;
}

int Session::set_control(std::uint32_t id, std::int64_t value, char* text) {
  const auto& all = camera_->controls();
  const auto found = all.find(id);
  const auto number =
      found == all.end() ? std::nullopt : control_value(found->first->type(), value);
  if (!number) {
    tell(text, "libcamera has no such number");
    return HAL_CAPTURE_UNSUPPORTED;
  }
  const std::lock_guard lock(mutex_);
  pending_[id] = *number;
  values_[id] = value;
  return HAL_CAPTURE_OK;
}

}  // namespace halyard::libcamera_plugin
