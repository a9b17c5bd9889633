// SPDX-License-Identifier: Apache-2.0
// A V4L2 camera. VIDIOC_TRY_FMT asks its driver for the pitch that it writes.
#include <fcntl.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>

#include <cerrno>

#include "base/text/format_error.h"
#include "halyard/fd.h"
#include "reconcile/engines/engines.h"
#include "reconcile/engines/table_engine.h"

namespace halyard {

namespace {

/// A driver's answer to a wanted format.
struct Answer {
  std::uint64_t stride = 0;
  std::uint64_t size = 0;
  std::uint64_t heaps = 0;        ///< 0: unknown
  std::uint64_t min_buffers = 0;  ///< 0: unknown
};

constexpr std::uint64_t capture_heaps = bit(Heap::dmabuf_system) | bit(Heap::dmabuf_cma) |
                                        bit(Heap::dmabuf_uncached) | bit(Heap::udmabuf);

int try_ioctl(int fd, unsigned long request, void* argument) {
  int result = 0;
  do {
    result = ioctl(fd, request, argument);
  } while (result != 0 && errno == EINTR);
  return result;
}

class V4l2 : public TableEngine {
 public:
  using TableEngine::TableEngine;
  /// The driver writes whole rows including their padding; chroma strides follow from luma.
  Status fill(const BufferRequest&, AttributeList& list) const override {
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::heaps, bit(Heap::v4l2_mmap) | capture_heaps));
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::attach, static_cast<std::uint64_t>(Attach::dma)));
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::pad_clobber, 1));
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::chroma_derived, 1));
    HALYARD_RETURN_IF_ERROR(set(list, Key::camp, "min_buffers"));
    if (number("bytesperline") == 0) return {};
    return set(list, Key::pitch_exact, "bytesperline");
  }

  Status refine(const Reconciled& draft, AttributeList& list) const override {
    const std::string device = settings().text("device");
    if (device.empty() || !draft.has_image()) return {};
    HALYARD_TRY(const Answer answer, ask(device, draft));
    HALYARD_RETURN_IF_ERROR(list.set(Key::pitch_exact, {answer.stride, 0}, 0, "TRY_FMT answer"));
    HALYARD_RETURN_IF_ERROR(list.set(Key::size_min, {answer.size, 0}, 0, "TRY_FMT answer"));
    if (answer.heaps != 0)
      HALYARD_RETURN_IF_ERROR(
          list.set(Key::heaps, {answer.heaps, 0}, 0, "CREATE_BUFS capabilities"));
    if (answer.min_buffers == 0) return {};
    return list.set(Key::camp, {answer.min_buffers, 0}, 0, "the driver's minimum");
  }

 private:
  static Result<Answer> ask(const std::string& device, const Reconciled& draft);
};

/// The kinds of memory that the driver supports. A count of 0 allocates no buffers, even if there
/// are some already.
std::uint64_t memory_of(const Fd& camera, std::uint32_t type) {
  v4l2_create_buffers request{};
  request.memory = V4L2_MEMORY_MMAP;
  request.format.type = type;
  if (try_ioctl(camera.get(), VIDIOC_G_FMT, &request.format) != 0) return 0;
  if (try_ioctl(camera.get(), VIDIOC_CREATE_BUFS, &request) != 0) return 0;
  std::uint64_t heaps = 0;
  if ((request.capabilities & V4L2_BUF_CAP_SUPPORTS_MMAP) != 0) heaps |= bit(Heap::v4l2_mmap);
  if ((request.capabilities & V4L2_BUF_CAP_SUPPORTS_DMABUF) != 0) heaps |= capture_heaps;
  return heaps;
}

/// The number of buffers that the driver holds while it captures. Few drivers report it.
std::uint64_t min_buffers_of(const Fd& camera) {
  v4l2_control control{V4L2_CID_MIN_BUFFERS_FOR_CAPTURE, 0};
  const bool is_told = try_ioctl(camera.get(), VIDIOC_G_CTRL, &control) == 0 && control.value > 0;
  return is_told ? static_cast<std::uint64_t>(control.value) : 0;
}

/// Asks for the draft's pitch. The answer has the pitch of the first plane and the bytes of all
/// planes.
Result<Answer> try_format(const Fd& camera, v4l2_format& format) {
  if (try_ioctl(camera.get(), VIDIOC_TRY_FMT, &format) != 0)
    return fail_os("the camera's driver refuses VIDIOC_TRY_FMT", errno);
  if (format.type == V4L2_BUF_TYPE_VIDEO_CAPTURE)
    return Answer{format.fmt.pix.bytesperline, format.fmt.pix.sizeimage};
  return Answer{format.fmt.pix_mp.plane_fmt[0].bytesperline,
                format.fmt.pix_mp.plane_fmt[0].sizeimage};
}

/// The type of the camera's buffer queue.
Result<std::uint32_t> capture_type(const Fd& camera, const std::string& device) {
  v4l2_capability capability{};
  if (try_ioctl(camera.get(), VIDIOC_QUERYCAP, &capability) != 0)
    return fail_os("the device is not a V4L2 camera", errno, device);
  if ((capability.device_caps & V4L2_CAP_STREAMING) == 0)
    return fail(Errc::unsupported, "the camera's driver has no buffers to share", "{}", device);
  if ((capability.device_caps & V4L2_CAP_VIDEO_CAPTURE_MPLANE) != 0)
    return std::uint32_t{V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE};
  if ((capability.device_caps & V4L2_CAP_VIDEO_CAPTURE) != 0)
    return std::uint32_t{V4L2_BUF_TYPE_VIDEO_CAPTURE};
  return fail(Errc::unsupported, "the device captures nothing", "{}", device);
}

v4l2_format wish(std::uint32_t type, std::uint32_t code, const Reconciled& draft) {
  const auto stride = static_cast<std::uint32_t>(draft.planes().front().stride_bytes);
  v4l2_format format{};
  format.type = type;
  // Both structures begin with the same members: width, height, format.
  format.fmt.pix.width = static_cast<std::uint32_t>(draft.width());
  format.fmt.pix.height = static_cast<std::uint32_t>(draft.height());
  format.fmt.pix.pixelformat = code;
  if (type == V4L2_BUF_TYPE_VIDEO_CAPTURE) {
    format.fmt.pix.bytesperline = stride;
  } else {
    format.fmt.pix_mp.num_planes = 1;
    format.fmt.pix_mp.plane_fmt[0].bytesperline = stride;
  }
  return format;
}

Result<Answer> V4l2::ask(const std::string& device, const Reconciled& draft) {
  const Fd camera(open(device.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!camera) return fail_os("a camera cannot be opened", errno, device);
  HALYARD_TRY(const std::uint32_t type, capture_type(camera, device));
  const auto code = v4l2_pixel_format({draft.image_tag().format});
  if (!code)
    return fail(Errc::unsupported, "V4L2 has no code for the format", "{}",
                to_string(draft.image_tag()));
  const v4l2_format wanted = wish(type, *code, draft);
  v4l2_format format = wanted;
  HALYARD_TRY(Answer answer, try_format(camera, format));
  if (format.fmt.pix.width != wanted.fmt.pix.width ||
      format.fmt.pix.height != wanted.fmt.pix.height || format.fmt.pix.pixelformat != *code)
    return fail(Errc::unsupported, "the camera offers another size or format",
                "{}: {}x{} {}, not {}x{} {}", device, format.fmt.pix.width, format.fmt.pix.height,
                fourcc_to_string(format.fmt.pix.pixelformat), draft.width(), draft.height(),
                fourcc_to_string(*code));
  answer.heaps = memory_of(camera, type);
  answer.min_buffers = min_buffers_of(camera);
  return answer;
}

}  // namespace

MadeEngine make_v4l2(std::string_view name, std::string_view json) {
  constexpr Setting table[] = {{"min_buffers", 2}, {"bytesperline", 0}};
  constexpr std::string_view texts[] = {"device"};
  HALYARD_TRY(Settings settings, Settings::read(name, table, json, texts));
  return std::shared_ptr<const BufferEngine>(std::make_shared<V4l2>(name, std::move(settings)));
}

}  // namespace halyard
