// SPDX-License-Identifier: Apache-2.0
// V4L2 calls to the test camera.
#include "vm/camera.h"

#include <poll.h>
#include <sys/ioctl.h>

#include <array>
#include <filesystem>
#include <fstream>

namespace halyard::vm {
namespace {

// Controls of vivid alone: not in any header of the kernel's interface.
constexpr std::uint32_t test_pattern = 0x00f0f000;
constexpr std::uint32_t text_mode = 0x00f0f001;
constexpr int all_text = 0, no_text = 2;
constexpr std::array<std::uint32_t, 3> meanings = {0x00f0f01a, 0x00f0f01b, 0x00f0f01c};

constexpr std::size_t max_planes = VIDEO_MAX_PLANES;

bool call(const Fd& fd, unsigned long request, void* argument) {
  return ::ioctl(fd.get(), request, argument) == 0;
}

// A buffer of either kind of camera as the calls want it. Points into itself.
struct BufferCall {
  v4l2_buffer buffer{};
  std::array<v4l2_plane, max_planes> planes{};
  BufferCall(std::uint32_t type, std::uint32_t memory, unsigned index, std::size_t plane_count) {
    buffer.type = type;
    buffer.memory = memory;
    buffer.index = index;
    if (type != V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE) return;
    buffer.m.planes = planes.data();
    buffer.length = static_cast<std::uint32_t>(plane_count);
  }
  BufferCall(const BufferCall&) = delete;
  BufferCall& operator=(const BufferCall&) = delete;
};

bool is_test_camera(const std::filesystem::path& folder) {
  std::ifstream file(folder / "name");
  std::string name;
  std::getline(file, name);
  return name.starts_with("vivid-") && name.ends_with("-vid-cap");
}

void request_single(v4l2_pix_format& pixels, const CameraFormat& wanted) {
  pixels.pixelformat = wanted.fourcc;
  pixels.width = static_cast<std::uint32_t>(wanted.width);
  pixels.height = static_cast<std::uint32_t>(wanted.height);
  pixels.bytesperline = static_cast<std::uint32_t>(wanted.planes[0].stride_bytes);
  pixels.priv = V4L2_PIX_FMT_PRIV_MAGIC;
  pixels.flags = V4L2_PIX_FMT_FLAG_SET_CSC;
  pixels.colorspace = wanted.codes.colorspace;
  pixels.xfer_func = wanted.codes.xfer_func;
  pixels.ycbcr_enc = wanted.codes.ycbcr_enc;
  pixels.quantization = wanted.codes.quantization;
}

CameraFormat answer_single(const v4l2_pix_format& p) {
  return {p.pixelformat,
          p.width,
          p.height,
          {p.colorspace, p.xfer_func, p.ycbcr_enc, p.quantization},
          {{p.bytesperline, p.sizeimage}}};
}

void request_multi(v4l2_pix_format_mplane& pixels, const CameraFormat& wanted) {
  pixels.pixelformat = wanted.fourcc;
  pixels.width = static_cast<std::uint32_t>(wanted.width);
  pixels.height = static_cast<std::uint32_t>(wanted.height);
  for (v4l2_plane_pix_format& plane : pixels.plane_fmt)
    plane.bytesperline = static_cast<std::uint32_t>(wanted.planes[0].stride_bytes);
  pixels.flags = V4L2_PIX_FMT_FLAG_SET_CSC;
  pixels.colorspace = wanted.codes.colorspace;
  pixels.xfer_func = static_cast<std::uint8_t>(wanted.codes.xfer_func);
  pixels.ycbcr_enc = static_cast<std::uint8_t>(wanted.codes.ycbcr_enc);
  pixels.quantization = static_cast<std::uint8_t>(wanted.codes.quantization);
}

CameraFormat answer_multi(const v4l2_pix_format_mplane& p) {
  CameraFormat answer = {p.pixelformat,
                         p.width,
                         p.height,
                         {p.colorspace, p.xfer_func, p.ycbcr_enc, p.quantization},
                         {}};
  for (std::size_t i = 0; i < p.num_planes; ++i)
    answer.planes.push_back({p.plane_fmt[i].bytesperline, p.plane_fmt[i].sizeimage});
  return answer;
}

}  // namespace

std::optional<Camera> Camera::open(bool multiplanar) {
  const std::uint32_t wanted = multiplanar
                                   ? static_cast<std::uint32_t>(V4L2_CAP_VIDEO_CAPTURE_MPLANE)
                                   : static_cast<std::uint32_t>(V4L2_CAP_VIDEO_CAPTURE);
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/video4linux", none)) {
    if (!is_test_camera(entry.path())) continue;
    const auto node = std::filesystem::path("/dev") / entry.path().filename();
    Fd fd(::open(node.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    v4l2_capability can{};
    if (!fd || !call(fd, VIDIOC_QUERYCAP, &can) || (can.device_caps & wanted) == 0) continue;
    return Camera(node.string(), std::move(fd),
                  multiplanar ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE);
  }
  return std::nullopt;
}

std::vector<std::uint32_t> Camera::formats() const {
  std::vector<std::uint32_t> found;
  v4l2_fmtdesc format{};
  format.type = type_;
  for (; call(fd_, VIDIOC_ENUM_FMT, &format); ++format.index)
    found.push_back(format.pixelformat);
  return found;
}

std::optional<CameraFormat> Camera::set_format(std::uint32_t fourcc, std::size_t width,
                                               std::size_t height, std::size_t stride_bytes,
                                               const V4l2Colorimetry& codes) {
  const CameraFormat wanted = {fourcc, width, height, codes, {{stride_bytes, 0}}};
  v4l2_format format{};
  format.type = type_;
  if (multiplanar()) {
    request_multi(format.fmt.pix_mp, wanted);
  } else {
    request_single(format.fmt.pix, wanted);
  }
  if (!forget_colorimetry() || !call(fd_, VIDIOC_S_FMT, &format)) return std::nullopt;
  format_ = multiplanar() ? answer_multi(format.fmt.pix_mp) : answer_single(format.fmt.pix);
  if (!fastest()) return std::nullopt;
  return format_;
}

// The most frames in a second that the size allows.
bool Camera::fastest() {
  v4l2_streamparm rate{};
  rate.type = type_;
  rate.parm.capture.timeperframe = {1, 120};
  return call(fd_, VIDIOC_S_PARM, &rate);
}

bool Camera::control(std::uint32_t id, int value) {
  v4l2_control setting = {id, value};
  return call(fd_, VIDIOC_S_CTRL, &setting);
}

bool Camera::show(Scene scene) {
  const bool plain = scene == Scene::red || scene == Scene::green || scene == Scene::blue;
  return control(test_pattern, static_cast<int>(scene)) &&
         control(text_mode, plain ? no_text : all_text);
}

// Transfer function, encoding and range by the colour space: what a format sets stays for the next
// one that leaves it open. The kernel passes on changes only, hence the other value before.
bool Camera::forget_colorimetry() {
  for (const std::uint32_t id : meanings)
    if (!control(id, 1) || !control(id, 0)) return false;
  return true;
}

bool Camera::request(std::uint32_t memory, unsigned count) {
  v4l2_requestbuffers request{};
  request.count = count;
  request.type = type_;
  request.memory = memory_ = memory;
  return call(fd_, VIDIOC_REQBUFS, &request) && request.count == count;
}

Fd Camera::export_plane(unsigned index, unsigned plane) const {
  v4l2_exportbuffer request{};
  request.type = type_;
  request.index = index;
  request.plane = plane;
  request.flags = O_RDWR | O_CLOEXEC;
  return call(fd_, VIDIOC_EXPBUF, &request) ? Fd(request.fd) : Fd();
}

NodeMapping Camera::map_plane(unsigned index, unsigned plane) const {
  BufferCall where(type_, memory_, index, max_planes);
  if (!call(fd_, VIDIOC_QUERYBUF, &where.buffer)) return {};
  return multiplanar()
             ? NodeMapping(fd_.get(), where.planes[plane].length, where.planes[plane].m.mem_offset)
             : NodeMapping(fd_.get(), where.buffer.length, where.buffer.m.offset);
}

bool Camera::queue(unsigned index, std::span<const int> fds) {
  BufferCall handed(type_, memory_, index, format_.planes.size());
  for (std::size_t i = 0; i < fds.size(); ++i) {
    (multiplanar() ? handed.planes[i].m.fd : handed.buffer.m.fd) = fds[i];
  }
  return call(fd_, VIDIOC_QBUF, &handed.buffer);
}

bool Camera::start() {
  return call(fd_, VIDIOC_STREAMON, &type_);
}

std::optional<CameraFrame> Camera::next() {
  pollfd waiting = {fd_.get(), POLLIN, 0};
  if (::poll(&waiting, 1, 10'000) != 1) return std::nullopt;
  BufferCall got(type_, memory_, 0, max_planes);
  if (!call(fd_, VIDIOC_DQBUF, &got.buffer)) return std::nullopt;
  if ((got.buffer.flags & V4L2_BUF_FLAG_ERROR) != 0) return std::nullopt;
  CameraFrame frame{got.buffer.index, {}};
  for (std::size_t i = 0; i < format_.planes.size(); ++i)
    frame.offset_bytes.push_back(multiplanar() ? got.planes[i].data_offset : 0);
  return frame;
}

bool Camera::stop() {
  return call(fd_, VIDIOC_STREAMOFF, &type_) && request(memory_, 0);
}

}  // namespace halyard::vm
