// SPDX-License-Identifier: Apache-2.0
// A camera behind V4L2: its driver says which pitch it writes, when it is asked with
// VIDIOC_TRY_FMT.
#include <fcntl.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>

#include <cerrno>

#include "base/format_error.h"
#include "halyard/fd.h"
#include "reconcile/engines/engines.h"
#include "reconcile/engines/table_engine.h"

namespace halyard {

namespace {

/// What a driver makes of a wish.
struct Answer {
  std::uint64_t stride = 0;
  std::uint64_t size = 0;
};

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
  /// The driver writes whole rows, padding with them; chroma follows from luma.
  Status fill(const BufferRequest&, AttributeList& list) const override {
    constexpr std::uint64_t heaps = bit(Heap::v4l2_mmap) | bit(Heap::dmabuf_system) |
                                    bit(Heap::dmabuf_cma) | bit(Heap::dmabuf_uncached) |
                                    bit(Heap::udmabuf);
    HALYARD_CHECK(set_fact(list, Key::heaps, heaps));
    HALYARD_CHECK(set_fact(list, Key::attach, static_cast<std::uint64_t>(Attach::dma)));
    HALYARD_CHECK(set_fact(list, Key::pad_clobber, 1));
    HALYARD_CHECK(set_fact(list, Key::chroma_derived, 1));
    HALYARD_CHECK(set(list, Key::camp, "min_buffers"));
    if (number("bytesperline") == 0) return {};
    return set(list, Key::pitch_exact, "bytesperline");
  }

  Status refine(const Reconciled& draft, AttributeList& list) const override {
    const std::string device = settings().text("device");
    if (device.empty() || !draft.has_image()) return {};
    HALYARD_TRY(const Answer answer, ask(device, draft));
    HALYARD_CHECK(list.set(Key::pitch_exact, {answer.stride, 0}, 0, "TRY_FMT answer"));
    return list.set(Key::size_min, {answer.size, 0}, 0, "TRY_FMT answer");
  }

 private:
  static Result<Answer> ask(const std::string& device, const Reconciled& draft);
  static Result<Answer> try_format(const Fd& camera, bool is_multiplanar, v4l2_format& format);
};

/// Asks for the draft's pitch; the answer is that of the first plane, and of all planes' bytes.
Result<Answer> V4l2::try_format(const Fd& camera, bool is_multiplanar, v4l2_format& format) {
  if (try_ioctl(camera.get(), VIDIOC_TRY_FMT, &format) != 0)
    return fail_os("the camera's driver refuses VIDIOC_TRY_FMT", errno);
  if (!is_multiplanar) return Answer{format.fmt.pix.bytesperline, format.fmt.pix.sizeimage};
  return Answer{format.fmt.pix_mp.plane_fmt[0].bytesperline,
                format.fmt.pix_mp.plane_fmt[0].sizeimage};
}

Result<Answer> V4l2::ask(const std::string& device, const Reconciled& draft) {
  const Fd camera(open(device.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!camera) return fail_os("a camera cannot be opened", errno, device);
  v4l2_capability capability{};
  if (try_ioctl(camera.get(), VIDIOC_QUERYCAP, &capability) != 0)
    return fail_os("the device is no camera of V4L2", errno, device);
  const auto wanted = v4l2_pixel_format({draft.image_tag().format});
  if (!wanted)
    return fail(Errc::unsupported, "V4L2 has no code for the format", "{}",
                to_string(draft.image_tag()));
  const bool is_multiplanar = (capability.device_caps & V4L2_CAP_VIDEO_CAPTURE_MPLANE) != 0;
  const auto width = static_cast<std::uint32_t>(draft.width());
  const auto height = static_cast<std::uint32_t>(draft.height());
  const auto stride = static_cast<std::uint32_t>(draft.planes().front().stride_bytes);
  v4l2_format format{};
  if (is_multiplanar) {
    format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE;
    format.fmt.pix_mp.width = width;
    format.fmt.pix_mp.height = height;
    format.fmt.pix_mp.pixelformat = *wanted;
    format.fmt.pix_mp.num_planes = 1;
    format.fmt.pix_mp.plane_fmt[0].bytesperline = stride;
  } else {
    format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    format.fmt.pix.width = width;
    format.fmt.pix.height = height;
    format.fmt.pix.pixelformat = *wanted;
    format.fmt.pix.bytesperline = stride;
  }
  HALYARD_TRY(const Answer answer, try_format(camera, is_multiplanar, format));
  // Both structures begin alike: width, height, format.
  if (format.fmt.pix.width != width || format.fmt.pix.height != height ||
      format.fmt.pix.pixelformat != *wanted)
    return fail(Errc::unsupported, "the camera offers another size or format",
                "{}: {}x{} {}, not {}x{} {}", device, format.fmt.pix.width, format.fmt.pix.height,
                fourcc_to_string(format.fmt.pix.pixelformat), width, height,
                fourcc_to_string(*wanted));
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
