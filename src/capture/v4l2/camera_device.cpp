// SPDX-License-Identifier: Apache-2.0
// Opening a node and setting the format and rate of a queue.
#include "capture/v4l2/camera_device.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <span>

#include "base/text/format_error.h"

namespace halyard::capture {
namespace {

// A driver's text, which may fill its field without a zero at the end.
template <std::size_t size>
std::string text_of(const std::uint8_t (&field)[size]) {
  const auto* end = std::find(std::begin(field), std::end(field), std::uint8_t{0});
  return std::string(std::begin(field), end);
}

struct Meaning {
  int os_errno;
  Errc code;
  const char* what;
};
constexpr std::array meanings = {
    Meaning{ENOENT, Errc::not_found, "camera: there is no such device"},
    Meaning{EACCES, Errc::permission,
            "camera: this user may not open it; users of its group, often \"video\", may"},
    Meaning{EPERM, Errc::permission, "camera: the system refuses access"},
    Meaning{EBUSY, Errc::busy, "camera: another program uses it"},
    Meaning{ENODEV, Errc::device, "camera: it was unplugged"},
    Meaning{ENXIO, Errc::device, "camera: it was unplugged"},
    Meaning{EIO, Errc::device, "camera: its driver reports an input or output error"},
    Meaning{EPIPE, Errc::device, "camera: it has ended its stream"},
    Meaning{ENOSPC, Errc::exhausted,
            "camera: its bus has too little bandwidth left for this size and rate"},
    Meaning{ENOMEM, Errc::no_memory, "camera: its driver has no memory for the buffers"},
};
constexpr std::array codec_meanings = {
    Meaning{ENOENT, Errc::not_found, "codec: there is no such device"},
    Meaning{EACCES, Errc::permission,
            "codec: this user may not open it; users of its group, often \"video\", may"},
    Meaning{EPERM, Errc::permission, "codec: the system refuses access"},
    Meaning{EBUSY, Errc::busy, "codec: others use all that its hardware has"},
    Meaning{ENODEV, Errc::device, "codec: its device is gone"},
    Meaning{ENXIO, Errc::device, "codec: its device is gone"},
    Meaning{EIO, Errc::device, "codec: its driver reports an input or output error"},
    Meaning{EPIPE, Errc::device, "codec: it has ended its stream"},
    Meaning{ENOSPC, Errc::exhausted, "codec: its hardware has no capacity left for this size"},
    Meaning{ENOMEM, Errc::no_memory, "codec: its driver has no memory for the buffers"},
};

Error meaning_of(std::span<const Meaning> table, const char* what, int os_errno,
                 const std::string& path) {
  for (const Meaning& meaning : table)
    if (meaning.os_errno == os_errno) return make_error(meaning.code, meaning.what, path, os_errno);
  return fail_os(what, os_errno, path);
}

DriverFormat answer_of(const v4l2_format& format) {
  const bool is_single =
      format.type == V4L2_BUF_TYPE_VIDEO_CAPTURE || format.type == V4L2_BUF_TYPE_VIDEO_OUTPUT;
  if (is_single) {
    const v4l2_pix_format& p = format.fmt.pix;
    return {p.pixelformat,
            p.width,
            p.height,
            {p.colorspace, p.xfer_func, p.ycbcr_enc, p.quantization},
            {{p.bytesperline, p.sizeimage}}};
  }
  const v4l2_pix_format_mplane& p = format.fmt.pix_mp;
  DriverFormat answer = {p.pixelformat,
                         p.width,
                         p.height,
                         {p.colorspace, p.xfer_func, p.ycbcr_enc, p.quantization},
                         {}};
  const std::size_t count = std::min<std::size_t>(p.num_planes, VIDEO_MAX_PLANES);
  for (std::size_t i = 0; i < count; ++i)
    answer.planes.push_back({p.plane_fmt[i].bytesperline, p.plane_fmt[i].sizeimage});
  return answer;
}

// Of both structures of a format.
template <class Format>
void put_codes(Format& format, const V4l2Colorimetry& codes) {
  using Byte = decltype(format.xfer_func);
  format.colorspace = codes.colorspace;
  format.xfer_func = static_cast<Byte>(codes.xfer_func);
  format.ycbcr_enc = static_cast<decltype(format.ycbcr_enc)>(codes.ycbcr_enc);
  format.quantization = static_cast<decltype(format.quantization)>(codes.quantization);
}

}  // namespace

Error camera_error(const char* what, int os_errno, const std::string& path) {
  return meaning_of(meanings, what, os_errno, path);
}

Error codec_error(const char* what, int os_errno, const std::string& path) {
  return meaning_of(codec_meanings, what, os_errno, path);
}

Error CameraDevice::error(const char* what, int os_errno) const {
  return is_codec_ ? codec_error(what, os_errno, path_) : camera_error(what, os_errno, path_);
}

bool is_camera_gone(const Error& error) noexcept {
  return error.os_errno == ENODEV || error.os_errno == ENXIO || error.os_errno == EIO ||
         error.os_errno == EPIPE || error.os_errno == ENOENT;
}

Result<std::unique_ptr<CameraDevice>> CameraDevice::open(V4l2Calls& calls,
                                                         const std::string& path) {
  return open_as(calls, path, false);
}

Result<std::unique_ptr<CameraDevice>> CameraDevice::open_codec(V4l2Calls& calls,
                                                               const std::string& path) {
  return open_as(calls, path, true);
}

std::unique_ptr<CameraDevice> CameraDevice::queue(bool is_read_by_driver) const {
  std::unique_ptr<CameraDevice> other(new CameraDevice(*this));
  if (is_multiplanar()) {
    other->type_ =
        is_read_by_driver ? V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE;
  } else {
    other->type_ = is_read_by_driver ? V4L2_BUF_TYPE_VIDEO_OUTPUT : V4L2_BUF_TYPE_VIDEO_CAPTURE;
  }
  return other;
}

Result<std::unique_ptr<CameraDevice>> CameraDevice::open_as(V4l2Calls& calls,
                                                            const std::string& path,
                                                            bool is_codec) {
  Fd fd(calls.open_node(path));
  const char* const what = is_codec ? "codec: cannot be opened" : "camera: cannot be opened";
  if (!fd) return is_codec ? codec_error(what, errno, path) : camera_error(what, errno, path);
  std::unique_ptr<CameraDevice> device(new CameraDevice(calls, path, std::move(fd), is_codec));
  HALYARD_RETURN_IF_ERROR(device->identify());
  return device;
}

Status CameraDevice::identify() {
  v4l2_capability found{};
  const int failed = call(VIDIOC_QUERYCAP, &found);
  if (failed == ENODEV) return error("", failed);
  if (failed != 0 && is_codec_)
    return fail(Errc::unsupported, "codec: the device is no V4L2 codec", "{}", path_);
  if (failed != 0)
    return fail(Errc::unsupported, "camera: the device is no V4L2 camera", "{}", path_);
  name_ = text_of(found.card);
  driver_ = text_of(found.driver);
  bus_ = text_of(found.bus_info);
  const bool is_per_node = (found.capabilities & V4L2_CAP_DEVICE_CAPS) != 0;
  return choose_type(is_per_node ? found.device_caps : found.capabilities);
}

Status CameraDevice::choose_type(std::uint32_t can) {
  const bool streams = (can & V4L2_CAP_STREAMING) != 0;
  if (is_codec_) {
    const bool is_multi = (can & V4L2_CAP_VIDEO_M2M_MPLANE) != 0;
    if ((!is_multi && (can & V4L2_CAP_VIDEO_M2M) == 0) || !streams)
      return fail(Errc::unsupported, "codec: the device does not work from memory to memory",
                  "{}: {}", path_, name_);
    type_ = is_multi ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE;
    return {};
  }
  if ((can & V4L2_CAP_VIDEO_CAPTURE_MPLANE) != 0) {
    type_ = V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE;
  } else if ((can & V4L2_CAP_VIDEO_CAPTURE) != 0) {
    type_ = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  } else {
    return fail(Errc::unsupported, "camera: the device captures no images", "{}: {}", path_, name_);
  }
  if (!streams)
    return fail(Errc::unsupported, "camera: its driver captures without buffers", "{}: {}", path_,
                name_);
  return {};
}

Result<DriverFormat> CameraDevice::format() const {
  v4l2_format format{};
  format.type = type_;
  if (const int failed = call(VIDIOC_G_FMT, &format); failed != 0)
    return error("driver: tells no format", failed);
  return answer_of(format);
}

Result<DriverFormat> CameraDevice::set_format(std::uint32_t fourcc, std::size_t width,
                                              std::size_t height, std::size_t stride_bytes,
                                              const FormatWish& wish) const {
  v4l2_format format{};
  format.type = type_;
  // The fields that are not set here mean: the driver's choice.
  if (is_multiplanar()) {
    v4l2_pix_format_mplane& wanted = format.fmt.pix_mp;
    wanted.width = static_cast<std::uint32_t>(width);
    wanted.height = static_cast<std::uint32_t>(height);
    wanted.pixelformat = fourcc;
    wanted.field = V4L2_FIELD_NONE;
    put_codes(wanted, wish.codes);
    wanted.num_planes = wish.size_bytes == 0 ? 0 : 1;
    wanted.plane_fmt[0].sizeimage = static_cast<std::uint32_t>(wish.size_bytes);
    for (v4l2_plane_pix_format& plane : wanted.plane_fmt)
      plane.bytesperline = static_cast<std::uint32_t>(stride_bytes);
  } else {
    v4l2_pix_format& wanted = format.fmt.pix;
    wanted.width = static_cast<std::uint32_t>(width);
    wanted.height = static_cast<std::uint32_t>(height);
    wanted.pixelformat = fourcc;
    wanted.field = V4L2_FIELD_NONE;
    wanted.bytesperline = static_cast<std::uint32_t>(stride_bytes);
    wanted.priv = V4L2_PIX_FMT_PRIV_MAGIC;
    wanted.sizeimage = static_cast<std::uint32_t>(wish.size_bytes);
    put_codes(wanted, wish.codes);
  }
  if (const int failed = call(VIDIOC_S_FMT, &format); failed != 0)
    return error("driver: refuses the format", failed);
  return answer_of(format);
}

Result<double> CameraDevice::set_rate(double rate) const {
  // A time per frame in units of 1/1000 of a second's fraction keeps 29.97 and 7.5 exact enough.
  constexpr std::uint32_t unit = 1000;
  v4l2_streamparm parameters{};
  parameters.type = type_;
  if (call(VIDIOC_G_PARM, &parameters) != 0) return 0.0;
  v4l2_fract& period = parameters.parm.capture.timeperframe;
  const bool is_settable = (parameters.parm.capture.capability & V4L2_CAP_TIMEPERFRAME) != 0;
  if (is_settable && rate > 0) {
    period = {unit, static_cast<std::uint32_t>(std::llround(rate * unit))};
    if (const int failed = call(VIDIOC_S_PARM, &parameters); failed != 0)
      return error("driver: refuses the rate", failed);
  }
  return period.numerator == 0 ? 0.0 : static_cast<double>(period.denominator) / period.numerator;
}

}  // namespace halyard::capture
