// SPDX-License-Identifier: Apache-2.0
// A codec that answers all calls.
#include "capture/fake/fake_codec.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "capture/fake/fake_codec_work.h"

namespace halyard::test {
namespace {

bool is_read_type(std::uint32_t type) {
  return type == V4L2_BUF_TYPE_VIDEO_OUTPUT || type == V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE;
}

FakeQueue& queue_of(FakeCodec& codec, std::uint32_t type) {
  return is_read_type(type) ? codec.read : codec.filled;
}

int describe(const FakeCodec& codec, v4l2_capability& found) {
  put_text(found.card, codec.name);
  put_text(found.driver, "fake");
  put_text(found.bus_info, "platform:fake");
  found.device_caps =
      (codec.is_multi ? V4L2_CAP_VIDEO_M2M_MPLANE : V4L2_CAP_VIDEO_M2M) | V4L2_CAP_STREAMING;
  found.capabilities = found.device_caps | V4L2_CAP_DEVICE_CAPS;
  return 0;
}

int enumerate(FakeCodec& codec, v4l2_fmtdesc& entry) {
  const FakeQueue& queue = queue_of(codec, entry.type);
  const std::vector<std::uint32_t> coded = {codec.coded};
  const auto& codes = is_coded(codec, queue) ? coded : codec.raw;
  if (entry.index >= codes.size()) return EINVAL;
  entry.pixelformat = codes[entry.index];
  return 0;
}

int set_format(FakeCodec& codec, v4l2_format& format) {
  FakeQueue& queue = queue_of(codec, format.type);
  if (!queue.buffers.empty()) return EBUSY;
  const v4l2_pix_format& wanted = format.fmt.pix;  // both structures begin alike
  if (is_coded(codec, queue)) {
    queue.fourcc = codec.coded;
    queue.width = wanted.width;
    queue.height = wanted.height;
    return 0;
  }
  const bool has = std::count(codec.raw.begin(), codec.raw.end(), wanted.pixelformat) != 0;
  queue.fourcc = has ? wanted.pixelformat : codec.raw.at(0);
  const std::uint32_t stride =
      codec.is_multi ? format.fmt.pix_mp.plane_fmt[0].bytesperline : wanted.bytesperline;
  size_raw(codec, queue, wanted.width, wanted.height, stride);
  return 0;
}

int answer_format(FakeCodec& codec, v4l2_format& format) {
  const FakeQueue& queue = queue_of(codec, format.type);
  const auto size = static_cast<std::uint32_t>(plane_bytes(codec, queue, 0));
  v4l2_pix_format& one = format.fmt.pix;
  one.width = queue.width;
  one.height = queue.height;
  one.pixelformat = queue.fourcc;
  if (!codec.is_multi) {
    one.colorspace = V4L2_COLORSPACE_REC709;
    one.bytesperline = queue.stride;
    one.sizeimage = size;
    return 0;
  }
  v4l2_pix_format_mplane& many = format.fmt.pix_mp;
  many.colorspace = V4L2_COLORSPACE_REC709;
  many.num_planes = static_cast<std::uint8_t>(queue.planes);
  for (std::uint32_t p = 0; p < queue.planes; ++p)
    many.plane_fmt[p] = {
        static_cast<std::uint32_t>(plane_bytes(codec, queue, p)), queue.stride, {}};
  return 0;
}

int make_buffers(FakeCodec& codec, v4l2_requestbuffers& request) {
  FakeQueue& queue = queue_of(codec, request.type);
  if (request.memory == V4L2_MEMORY_DMABUF && !codec.has_dmabuf) return EINVAL;
  if (queue.is_streaming) return EBUSY;
  if (codec.refuses_release && &queue == &codec.filled && !queue.buffers.empty()) return EBUSY;
  queue.buffers.clear();
  queue.memory = request.memory;
  request.count = std::min(request.count, 32U);
  for (std::uint32_t i = 0; i < request.count; ++i) {
    queue.buffers.emplace_back();
    for (std::size_t p = 0; p < queue.planes && request.memory == V4L2_MEMORY_MMAP; ++p) {
      auto memory = create_sealed_memory("fake", plane_bytes(codec, queue, p));
      if (!memory) return ENOMEM;
      queue.buffers.back().planes.push_back(*std::move(memory));
    }
  }
  return 0;
}

int query(FakeCodec& codec, v4l2_buffer& buffer) {
  const FakeQueue& queue = queue_of(codec, buffer.type);
  if (buffer.index >= queue.buffers.size()) return EINVAL;
  const std::size_t base = is_read_type(buffer.type) ? 256 : 0;
  for (std::size_t p = 0; p < queue.planes; ++p) {
    const auto offset = static_cast<std::uint32_t>((base + buffer.index * 4 + p) * page);
    const auto length = static_cast<std::uint32_t>(plane_bytes(codec, queue, p));
    if (codec.is_multi) {
      buffer.m.planes[p].m.mem_offset = offset;
      buffer.m.planes[p].length = length;
    } else {
      buffer.m.offset = offset;
      buffer.length = length;
    }
  }
  return 0;
}

int take_in(FakeCodec& codec, const v4l2_buffer& buffer) {
  FakeQueue& queue = queue_of(codec, buffer.type);
  const auto has = [&](const auto& list) {
    return std::count(list.begin(), list.end(), buffer.index) != 0;
  };
  if (buffer.index >= queue.buffers.size() || has(queue.queued) || has(queue.done)) return EINVAL;
  FakeQueue::Buffer& own = queue.buffers[buffer.index];
  own.time = buffer.timestamp;
  own.flags = 0;
  own.used = codec.is_multi ? buffer.m.planes[0].bytesused : buffer.bytesused;
  own.given.clear();
  for (std::size_t p = 0; p < queue.planes && queue.memory == V4L2_MEMORY_DMABUF; ++p)
    own.given.push_back(codec.is_multi ? buffer.m.planes[p].m.fd : buffer.m.fd);
  queue.queued.push_back(buffer.index);
  return 0;
}

int give_out(FakeCodec& codec, v4l2_buffer& buffer) {
  FakeQueue& queue = queue_of(codec, buffer.type);
  if (!queue.is_streaming) return EINVAL;
  const bool is_filled = &queue == &codec.filled;
  if (queue.done.empty()) return is_filled && codec.is_last_out ? EPIPE : EAGAIN;
  buffer.index = queue.done.front();
  queue.done.pop_front();
  const FakeQueue::Buffer& own = queue.buffers[buffer.index];
  buffer.timestamp = own.time;
  buffer.flags = own.flags | V4L2_BUF_FLAG_TIMESTAMP_COPY;
  if ((own.flags & V4L2_BUF_FLAG_LAST) != 0) codec.is_last_out = true;
  if (!codec.is_multi) buffer.bytesused = own.used;
  for (std::size_t p = 0; codec.is_multi && p < queue.planes; ++p)
    buffer.m.planes[p].bytesused = own.used;
  return 0;
}

int switch_queue(FakeCodec& codec, std::uint32_t type, bool is_on) {
  FakeQueue& queue = queue_of(codec, type);
  const bool is_filled = &queue == &codec.filled;
  codec.log.push_back(std::string(is_on ? "on " : "off ") + (is_filled ? "capture" : "output"));
  queue.is_streaming = is_on;
  if (is_filled) codec.is_last_out = codec.is_changing = false;
  if (is_on) return 0;
  queue.queued.clear();
  queue.done.clear();
  codec.is_stopped = codec.is_draining = false;
  return 0;
}

int command(FakeCodec& codec, std::uint32_t cmd) {
  static_assert(V4L2_DEC_CMD_STOP == V4L2_ENC_CMD_STOP && V4L2_DEC_CMD_START == V4L2_ENC_CMD_START);
  codec.log.push_back(cmd == V4L2_DEC_CMD_STOP ? "stop" : "start");
  codec.is_draining = cmd == V4L2_DEC_CMD_STOP;
  if (!codec.is_draining) codec.is_stopped = codec.is_last_out = false;
  return 0;
}

int next_event(FakeCodec& codec, v4l2_event& event) {
  if (codec.events.empty()) return ENOENT;
  event.type = codec.events.front();
  event.u.src_change.changes = V4L2_EVENT_SRC_CH_RESOLUTION;
  codec.events.pop_front();
  return 0;
}

int query_control(const FakeCodec& codec, v4l2_queryctrl& found) {
  const std::uint32_t after = found.id & ~static_cast<std::uint32_t>(V4L2_CTRL_FLAG_NEXT_CTRL);
  const auto next = codec.controls.upper_bound(after);
  if (next == codec.controls.end()) return EINVAL;
  found.id = next->first;
  found.type = found.id == V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME ? V4L2_CTRL_TYPE_BUTTON
                                                               : V4L2_CTRL_TYPE_INTEGER;
  put_text(found.name, found.id == V4L2_CID_MPEG_VIDEO_BITRATE    ? "Video Bitrate"
                       : found.id == V4L2_CID_MPEG_VIDEO_GOP_SIZE ? "Video GOP Size"
                                                                  : "Force Key Frame");
  found.minimum = 0;
  found.maximum = 100'000'000;
  found.step = 1;
  return 0;
}

int answer_control(FakeCodec& codec, v4l2_control& setting, bool is_set) {
  const auto found = codec.controls.find(setting.id);
  if (found == codec.controls.end()) return EINVAL;
  if (is_set) found->second = std::max(setting.value, 1);
  setting.value = found->second;
  return 0;
}

int answer_call(FakeCodec& codec, unsigned long request, void* argument) {
  switch (request) {
    case VIDIOC_QUERYCAP:
      return describe(codec, as<v4l2_capability>(argument));
    case VIDIOC_ENUM_FMT:
      return enumerate(codec, as<v4l2_fmtdesc>(argument));
    case VIDIOC_S_FMT:
      if (const int failed = set_format(codec, as<v4l2_format>(argument)); failed != 0)
        return failed;
      [[fallthrough]];
    case VIDIOC_G_FMT:
      return answer_format(codec, as<v4l2_format>(argument));
    case VIDIOC_G_SELECTION:
      if (codec.visible_width == 0) return EINVAL;
      as<v4l2_selection>(argument).r = {0, 0, codec.visible_width, codec.visible_height};
      return 0;
    case VIDIOC_S_SELECTION:
      return 0;
    case VIDIOC_REQBUFS:
      return make_buffers(codec, as<v4l2_requestbuffers>(argument));
    case VIDIOC_QUERYBUF:
      return query(codec, as<v4l2_buffer>(argument));
    case VIDIOC_EXPBUF: {
      auto& wanted = as<v4l2_exportbuffer>(argument);
      if (!codec.has_export) return ENOTTY;
      const auto& planes = queue_of(codec, wanted.type).buffers.at(wanted.index).planes;
      wanted.fd = Fd::duplicate(planes.at(wanted.plane).get())->release();
      return 0;
    }
    case VIDIOC_QBUF:
      return take_in(codec, as<v4l2_buffer>(argument));
    case VIDIOC_DQBUF:
      return give_out(codec, as<v4l2_buffer>(argument));
    case VIDIOC_STREAMON:
    case VIDIOC_STREAMOFF:
      return switch_queue(codec, as<std::uint32_t>(argument), request == VIDIOC_STREAMON);
    case VIDIOC_DECODER_CMD:
      return command(codec, as<v4l2_decoder_cmd>(argument).cmd);
    case VIDIOC_ENCODER_CMD:
      return command(codec, as<v4l2_encoder_cmd>(argument).cmd);
    case VIDIOC_SUBSCRIBE_EVENT:
      return 0;
    case VIDIOC_DQEVENT:
      return next_event(codec, as<v4l2_event>(argument));
    case VIDIOC_QUERYCTRL:
      return query_control(codec, as<v4l2_queryctrl>(argument));
    case VIDIOC_G_CTRL:
    case VIDIOC_S_CTRL:
      return answer_control(codec, as<v4l2_control>(argument), request == VIDIOC_S_CTRL);
    default:
      return ENOTTY;
  }
}

}  // namespace

void FakeCodecs::run(FakeCodec& codec) {
  const std::lock_guard lock(mutex_);
  codec.is_paused = false;
  work(codec);
}

void FakeCodecs::unplug(FakeCodec& codec) {
  const std::lock_guard lock(mutex_);
  codec.is_gone = true;
  work(codec);
}

std::size_t FakeCodecs::queued(const FakeCodec& codec) const {
  const std::lock_guard lock(mutex_);
  return codec.filled.queued.size();
}

int FakeCodecs::open_node(const std::string& path) {
  const std::lock_guard lock(mutex_);
  FakeCodec* const codec = find(path);
  errno = ENOENT;
  if (codec == nullptr) return -1;
  const int fd = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  codec->timer = *Fd::duplicate(fd);
  open_[fd] = codec;
  return fd;
}

int FakeCodecs::answer(FakeCodec& codec, unsigned long request, void* argument) {
  const int failed = answer_call(codec, request, argument);
  work(codec);
  return failed;
}

Result<MappedMemory> FakeCodecs::map_buffer(int fd, std::size_t offset, std::size_t size,
                                            bool is_writable) {
  const std::lock_guard lock(mutex_);
  FakeCodec& codec = *open_.at(fd);
  const std::size_t place = offset / page;
  const FakeQueue& queue = place >= 256 ? codec.read : codec.filled;
  const int memory = queue.buffers.at(place % 256 / 4).planes.at(place % 4).get();
  return MappedMemory::create(memory, size, is_writable);
}

}  // namespace halyard::test
