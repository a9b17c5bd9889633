// SPDX-License-Identifier: Apache-2.0
// A driver in memory. Buffers are memfds, in place of DMA-BUFs.
#include "capture/fake/fake_camera.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace halyard::test {
namespace {

int enumerate_sizes(const FakeNode& node, v4l2_frmsizeenum& entry) {
  for (const FakeFormat& format : node.formats) {
    if (format.fourcc != entry.pixel_format) continue;
    if (entry.index >= format.sizes.size()) return EINVAL;
    const FakeSize& size = format.sizes[entry.index];
    entry.type = size.step == 0 ? V4L2_FRMSIZE_TYPE_DISCRETE : V4L2_FRMSIZE_TYPE_STEPWISE;
    if (size.step == 0) {
      entry.discrete = {size.width, size.height};
    } else {
      entry.stepwise = {size.step, size.width, size.step, size.step, size.height, size.step};
    }
    return 0;
  }
  return EINVAL;
}

int enumerate_rates(const FakeNode& node, v4l2_frmivalenum& entry) {
  for (const FakeFormat& format : node.formats) {
    for (const FakeSize& size : format.sizes) {
      if (format.fourcc != entry.pixel_format || size.width != entry.width) continue;
      if (entry.index >= size.rates.size()) return EINVAL;
      entry.type = V4L2_FRMIVAL_TYPE_DISCRETE;
      entry.discrete = {1, size.rates[entry.index]};
      return 0;
    }
  }
  return EINVAL;
}

int enumerate_formats(const FakeNode& node, v4l2_fmtdesc& entry) {
  if (entry.index >= node.formats.size()) return EINVAL;
  entry.pixelformat = node.formats[entry.index].fourcc;
  put_text(entry.description, "A Format");
  return 0;
}

std::uint32_t samples_bytes(std::uint32_t fourcc) {
  switch (fourcc) {
    case V4L2_PIX_FMT_YUYV:
    case V4L2_PIX_FMT_Y10:
    case V4L2_PIX_FMT_Y16:
    case V4L2_PIX_FMT_SRGGB12:
      return 2;
    case V4L2_PIX_FMT_RGB24:
      return 3;
    default:
      return 1;
  }
}

int answer_format(FakeNode& node, v4l2_format& format, bool is_set) {
  if (is_set) {
    auto& wanted = format.fmt.pix;  // both structures begin alike
    node.fourcc = wanted.pixelformat;
    if (node.format() == nullptr) node.fourcc = node.formats.at(0).fourcc;
    node.width = wanted.width;
    node.height = wanted.height;
    const auto asked =
        node.is_multi() ? format.fmt.pix_mp.plane_fmt[0].bytesperline : wanted.bytesperline;
    node.stride = std::max(asked, node.width * samples_bytes(node.fourcc) + node.format()->padding);
  }
  if (node.is_multi()) {
    v4l2_pix_format_mplane& p = format.fmt.pix_mp;
    p.width = node.width;
    p.height = node.height;
    p.pixelformat = node.fourcc;
    p.colorspace = V4L2_COLORSPACE_REC709;
    p.num_planes = static_cast<std::uint8_t>(node.format()->planes);
    for (std::size_t i = 0; i < node.format()->planes; ++i) {
      p.plane_fmt[i].bytesperline = node.stride;
      p.plane_fmt[i].sizeimage = static_cast<std::uint32_t>(node.plane_bytes(i));
    }
    return 0;
  }
  v4l2_pix_format& p = format.fmt.pix;
  p.width = node.width;
  p.height = node.height;
  p.pixelformat = node.fourcc;
  p.colorspace = V4L2_COLORSPACE_REC709;
  p.bytesperline = node.stride;
  p.sizeimage = static_cast<std::uint32_t>(node.plane_bytes(0));
  return 0;
}

int answer_rate(FakeNode& node, v4l2_streamparm& parameters, bool is_set) {
  parameters.parm.capture.capability = V4L2_CAP_TIMEPERFRAME;
  if (is_set) node.period = parameters.parm.capture.timeperframe;
  if (node.kept_rate > 0) node.period = {1000, static_cast<std::uint32_t>(node.kept_rate * 1000)};
  parameters.parm.capture.timeperframe = node.period;
  return 0;
}

int make_buffers(FakeNode& node, v4l2_requestbuffers& request) {
  if (request.memory == V4L2_MEMORY_DMABUF && !node.has_dmabuf) return EINVAL;
  if (request.memory == V4L2_MEMORY_USERPTR && !node.has_userptr) return EINVAL;
  if (node.is_streaming) return EBUSY;
  node.buffers.clear();
  node.given.clear();
  node.pointed.clear();
  node.queued.clear();
  node.memory = request.memory;
  request.count = std::min(request.count, node.max_buffers);
  for (std::uint32_t i = 0; i < request.count && request.memory == V4L2_MEMORY_MMAP; ++i) {
    std::vector<Fd> planes;
    for (std::size_t p = 0; p < node.format()->planes; ++p) {
      auto memory = create_sealed_memory("fake", node.plane_bytes(p));
      if (!memory) return ENOMEM;
      planes.push_back(*std::move(memory));
    }
    node.buffers.push_back(std::move(planes));
  }
  return 0;
}

int query_buffer(const FakeNode& node, v4l2_buffer& buffer) {
  if (buffer.index >= node.buffers.size()) return EINVAL;
  for (std::size_t p = 0; p < node.format()->planes; ++p) {
    const auto offset = static_cast<std::uint32_t>((buffer.index * 8 + p) * page);
    const auto length = static_cast<std::uint32_t>(node.plane_bytes(p));
    if (node.is_multi()) {
      buffer.m.planes[p].m.mem_offset = offset;
      buffer.m.planes[p].length = length;
    } else {
      buffer.m.offset = offset;
      buffer.length = length;
    }
  }
  return 0;
}

int queue(FakeNode& node, const v4l2_buffer& buffer) {
  if (node.memory == V4L2_MEMORY_DMABUF) {
    std::vector<int> fds;
    for (std::size_t p = 0; p < node.format()->planes; ++p)
      fds.push_back(node.is_multi() ? buffer.m.planes[p].m.fd : buffer.m.fd);
    node.given[buffer.index] = fds;
  }
  if (node.memory == V4L2_MEMORY_USERPTR && node.pointer_errno != 0) return node.pointer_errno;
  if (node.memory == V4L2_MEMORY_USERPTR) {
    std::vector<std::span<std::byte>> memory;
    for (std::size_t p = 0; p < node.format()->planes; ++p) {
      const bool is_multi = node.is_multi();
      const auto address = is_multi ? buffer.m.planes[p].m.userptr : buffer.m.userptr;
      const std::size_t size = is_multi ? buffer.m.planes[p].length : buffer.length;
      if (size < node.plane_bytes(p)) return EINVAL;
      memory.emplace_back(reinterpret_cast<std::byte*>(address), size);
    }
    auto& before = node.pointed[buffer.index];
    if (before.empty() || before[0].data() != memory[0].data()) ++node.pins;
    before = memory;
  }
  if (std::count(node.queued.begin(), node.queued.end(), buffer.index) != 0) return EINVAL;
  node.queued.push_back(buffer.index);
  return 0;
}

int dequeue(FakeNode& node, v4l2_buffer& buffer) {
  if (!node.is_streaming) return EINVAL;
  if (node.done.empty()) return EAGAIN;
  const FakeNode::Done done = node.done.front();
  node.done.pop_front();
  std::uint64_t one = 0;
  if (::read(node.event.get(), &one, sizeof(one)) != sizeof(one)) return EIO;
  buffer.index = done.index;
  buffer.sequence = done.sequence;
  buffer.flags = done.flags;
  if (node.is_monotonic) {
    buffer.flags |= V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
    buffer.timestamp = {7, static_cast<suseconds_t>(done.sequence)};
  }
  if (!node.is_multi()) buffer.bytesused = done.bytes;
  for (std::size_t p = 0; node.is_multi() && p < node.format()->planes; ++p) {
    buffer.m.planes[p].bytesused =
        static_cast<std::uint32_t>(p == 0 ? done.bytes : node.plane_bytes(p));
    buffer.m.planes[p].data_offset = static_cast<std::uint32_t>(node.format()->offset_bytes);
  }
  return 0;
}

FakeControl* control_of(FakeNode& node, std::uint32_t id) {
  const auto found = std::find_if(node.controls.begin(), node.controls.end(),
                                  [id](const FakeControl& c) { return c.id == id; });
  return found == node.controls.end() ? nullptr : &*found;
}

int query_control(FakeNode& node, v4l2_queryctrl& query) {
  const std::uint32_t after = query.id & ~static_cast<std::uint32_t>(V4L2_CTRL_FLAG_NEXT_CTRL);
  for (const FakeControl& control : node.controls) {
    if (control.id <= after) continue;
    query.id = control.id;
    query.type = control.type;
    put_text(query.name, control.name);
    query.minimum = control.minimum;
    query.maximum = control.maximum;
    query.step = control.step;
    query.default_value = 50;
    query.flags = control.flags;
    return 0;
  }
  return EINVAL;
}

int query_menu(FakeNode& node, v4l2_querymenu& query) {
  const FakeControl* control = control_of(node, query.id);
  if (control == nullptr || query.index >= control->menu.size()) return EINVAL;
  if (control->menu[query.index].empty()) return EINVAL;
  const std::string& text = control->menu[query.index];
  std::memcpy(query.name, text.c_str(), text.size() + 1);
  return 0;
}

int describe_node(const FakeNode& node, v4l2_capability& found) {
  put_text(found.card, node.name);
  put_text(found.driver, node.driver);
  put_text(found.bus_info, node.bus);
  found.capabilities = node.caps | V4L2_CAP_DEVICE_CAPS;
  found.device_caps = node.caps;
  return 0;
}

int run_stream(FakeNode& node, bool is_on) {
  node.is_streaming = is_on;
  if (is_on) return 0;
  std::uint64_t count = 0;
  while (::read(node.event.get(), &count, sizeof(count)) == sizeof(count)) {
  }
  node.queued.clear();
  node.done.clear();
  return 0;
}

}  // namespace

const FakeFormat* FakeNode::format() const {
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [this](const FakeFormat& f) { return f.fourcc == fourcc; });
  return found == formats.end() ? nullptr : &*found;
}

std::size_t FakeNode::plane_bytes(std::size_t plane) const {
  const std::size_t rows = plane == 0 ? height : height / 2;
  const bool is_whole_nv12 = fourcc == V4L2_PIX_FMT_NV12;
  const std::size_t all = is_whole_nv12 ? rows + rows / 2 : rows;
  return std::size_t{stride} * all + format()->offset_bytes;
}

FakeNode node_of(std::uint32_t fourcc, std::size_t planes, std::uint32_t padding) {
  FakeNode node;
  if (planes > 1) node.caps = V4L2_CAP_VIDEO_CAPTURE_MPLANE | V4L2_CAP_STREAMING;
  node.formats = {{fourcc, {{64, 32, {30}}}, planes, padding}};
  return node;
}

int FakeCameras::open_node(const std::string& path) {
  const std::lock_guard lock(mutex_);
  FakeNode* const node = find(path);
  errno = node == nullptr ? ENOENT : node->open_errno;
  if (errno != 0) return -1;
  const int fd = ::eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
  node->event = *Fd::duplicate(fd);
  ++node->opened;
  open_[fd] = node;
  return fd;
}

int FakeCameras::answer(FakeNode& node, unsigned long request, void* argument) {
  switch (request) {
    case VIDIOC_QUERYCAP:
      return describe_node(node, as<v4l2_capability>(argument));
    case VIDIOC_ENUM_FMT:
      return enumerate_formats(node, as<v4l2_fmtdesc>(argument));
    case VIDIOC_ENUM_FRAMESIZES:
      return enumerate_sizes(node, as<v4l2_frmsizeenum>(argument));
    case VIDIOC_ENUM_FRAMEINTERVALS:
      return enumerate_rates(node, as<v4l2_frmivalenum>(argument));
    case VIDIOC_G_FMT:
    case VIDIOC_S_FMT:
      return answer_format(node, as<v4l2_format>(argument), request == VIDIOC_S_FMT);
    case VIDIOC_G_PARM:
    case VIDIOC_S_PARM:
      return answer_rate(node, as<v4l2_streamparm>(argument), request == VIDIOC_S_PARM);
    case VIDIOC_REQBUFS:
      return make_buffers(node, as<v4l2_requestbuffers>(argument));
    case VIDIOC_QUERYBUF:
      return query_buffer(node, as<v4l2_buffer>(argument));
    case VIDIOC_EXPBUF: {
      auto& wanted = as<v4l2_exportbuffer>(argument);
      if (!node.has_export) return ENOTTY;
      wanted.fd = Fd::duplicate(node.buffers.at(wanted.index).at(wanted.plane).get())->release();
      return 0;
    }
    case VIDIOC_QBUF:
      return queue(node, as<v4l2_buffer>(argument));
    case VIDIOC_DQBUF:
      return dequeue(node, as<v4l2_buffer>(argument));
    case VIDIOC_STREAMON:
    case VIDIOC_STREAMOFF:
      return run_stream(node, request == VIDIOC_STREAMON);
    case VIDIOC_QUERYCTRL:
      return query_control(node, as<v4l2_queryctrl>(argument));
    case VIDIOC_QUERYMENU:
      return query_menu(node, as<v4l2_querymenu>(argument));
    case VIDIOC_G_CTRL:
    case VIDIOC_S_CTRL: {
      auto& setting = as<v4l2_control>(argument);
      FakeControl* const control = control_of(node, setting.id);
      if (control == nullptr) return EINVAL;
      (request == VIDIOC_S_CTRL ? control->value : setting.value) =
          request == VIDIOC_S_CTRL ? setting.value : control->value;
      return 0;
    }
    default:
      return ENOTTY;
  }
}

Result<MappedMemory> FakeCameras::map_buffer(int fd, std::size_t offset, std::size_t size,
                                             bool is_writable) {
  const std::lock_guard lock(mutex_);
  const std::size_t place = offset / page;
  return MappedMemory::create(open_.at(fd)->buffers.at(place / 8).at(place % 8).get(), size,
                              is_writable);
}

bool FakeCameras::finish(FakeNode& node, std::uint32_t flags, std::size_t bytes,
                         std::span<const std::byte> data, std::uint8_t value) {
  const std::uint32_t number = node.sequence++;
  if (node.queued.empty()) return false;
  const std::uint32_t index = node.queued.front();
  node.queued.pop_front();
  for (std::size_t p = 0; p < node.format()->planes; ++p) {
    std::vector<std::byte> pixels(node.plane_bytes(p), static_cast<std::byte>(value + p));
    if (p == 0 && !data.empty()) pixels.assign(data.begin(), data.end());
    if (node.memory == V4L2_MEMORY_USERPTR) {
      std::memcpy(node.pointed.at(index).at(p).data(), pixels.data(), pixels.size());
      continue;
    }
    const int fd = node.memory == V4L2_MEMORY_DMABUF ? node.given.at(index).at(p)
                                                     : node.buffers.at(index).at(p).get();
    if (::pwrite(fd, pixels.data(), pixels.size(), 0) < 0) return false;
  }
  node.done.push_back({index, number, static_cast<std::uint32_t>(bytes), flags});
  constexpr std::uint64_t one = 1;
  return ::write(node.event.get(), &one, sizeof(one)) == sizeof(one);
}

bool FakeCameras::produce(FakeNode& node, std::uint8_t value, std::uint32_t flags) {
  const std::lock_guard lock(mutex_);
  return finish(node, flags, node.plane_bytes(0), {}, value);
}

bool FakeCameras::produce(FakeNode& node, std::span<const std::byte> bytes, std::uint32_t flags) {
  const std::lock_guard lock(mutex_);
  return finish(node, flags, bytes.size(), bytes, 0);
}

void FakeCameras::unplug(FakeNode& node) {
  const std::lock_guard lock(mutex_);
  node.is_gone = true;
  constexpr std::uint64_t one = 1;
  [[maybe_unused]] const auto done = ::write(node.event.get(), &one, sizeof(one));
}

void FakeCameras::plug(FakeNode& node, const std::string& path) {
  const std::lock_guard lock(mutex_);
  node.is_gone = false;
  node.is_streaming = false;
  node.path = path;
  node.sequence = 0;
  node.done.clear();
  node.queued.clear();
}

std::size_t FakeCameras::queued(const FakeNode& node) const {
  const std::lock_guard lock(mutex_);
  return node.queued.size();
}

}  // namespace halyard::test
