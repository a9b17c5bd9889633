// SPDX-License-Identifier: Apache-2.0
#include "capture/fake/fake_codec_work.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace halyard::test {

bool is_coded(const FakeCodec& codec, const FakeQueue& queue) {
  return (&queue == &codec.read) != codec.is_encoder;
}

void size_raw(FakeCodec& codec, FakeQueue& queue, std::uint32_t width, std::uint32_t height,
              std::uint32_t stride) {
  const auto up = [&](std::uint32_t n) {
    return (n + codec.align - 1) / codec.align * codec.align;
  };
  queue.width = up(width);
  queue.height = up(height);
  queue.stride = std::max(queue.width, stride);
  queue.planes = queue.fourcc == V4L2_PIX_FMT_NV12M ? 2 : 1;
}

std::size_t plane_bytes(const FakeCodec& codec, const FakeQueue& queue, std::size_t plane) {
  if (is_coded(codec, queue)) return queue.size;
  const std::size_t luma = std::size_t{queue.stride} * queue.height;
  if (queue.planes > 1) return plane == 0 ? luma : luma / 2;
  return luma + luma / 2;
}

namespace {

void finish(FakeQueue& queue, std::uint32_t used, std::uint32_t flags, timeval time) {
  const std::uint32_t index = queue.queued.front();
  queue.queued.pop_front();
  FakeQueue::Buffer& own = queue.buffers[index];
  own.used = used;
  own.flags = flags;
  own.time = time;
  queue.done.push_back(index);
}

int descriptor(const FakeQueue& queue, std::uint32_t index, std::size_t plane) {
  const FakeQueue::Buffer& own = queue.buffers[index];
  return queue.memory == V4L2_MEMORY_DMABUF ? own.given.at(plane) : own.planes.at(plane).get();
}

// The whole buffer of the stream's size is written, so that a test sees a wrong place.
void paint(const FakeCodec& codec, const FakeQueue& queue, std::uint32_t value) {
  for (std::size_t p = 0; p < queue.planes; ++p) {
    const std::vector<std::byte> pixels(plane_bytes(codec, queue, p),
                                        static_cast<std::byte>(value));
    if (::pwrite(descriptor(queue, queue.queued.front(), p), pixels.data(), pixels.size(), 0) < 0)
      return;
  }
}

void announce(FakeCodec& codec, const FakePacket& packet) {
  codec.visible_width = packet.width;
  codec.visible_height = packet.height;
  if (codec.filled.fourcc == 0) codec.filled.fourcc = codec.raw.at(0);
  size_raw(codec, codec.filled, packet.width, packet.height, 0);
  codec.events.push_back(V4L2_EVENT_SOURCE_CHANGE);
  codec.is_changing = true;
  if (codec.filled.is_streaming) finish(codec.filled, 0, V4L2_BUF_FLAG_LAST, {});
}

// The packet that waits first; false if it cannot be read.
bool read_packet(const FakeCodec& codec, FakePacket& out) {
  const std::uint32_t index = codec.read.queued.front();
  std::vector<std::byte> bytes(codec.parse ? codec.read.buffers[index].used : sizeof(out));
  const ssize_t got = ::pread(descriptor(codec.read, index, 0), bytes.data(), bytes.size(), 0);
  if (got != static_cast<ssize_t>(bytes.size())) return false;
  if (codec.parse) out = codec.parse(bytes);
  if (!codec.parse) std::memcpy(&out, bytes.data(), sizeof(out));
  return true;
}

// Whether it has done something.
bool decode_one(FakeCodec& codec) {
  FakeQueue& in = codec.read;
  FakeQueue& out = codec.filled;
  const bool can_write = out.is_streaming && !out.queued.empty();
  if (codec.is_changing || codec.is_stopped || !in.is_streaming) return false;
  if (in.queued.empty()) {
    if (!codec.is_draining || !can_write) return false;
    finish(out, 0, V4L2_BUF_FLAG_LAST, {});
    codec.is_stopped = true;
    codec.events.push_back(V4L2_EVENT_EOS);
    return true;
  }
  FakePacket packet;
  const timeval time = in.buffers[in.queued.front()].time;
  if (!read_packet(codec, packet)) return false;
  if (packet.kind == FakePacket::Kind::nothing) {
    finish(in, 0, V4L2_BUF_FLAG_ERROR, time);
    return true;
  }
  const bool is_new = packet.width != codec.visible_width || packet.height != codec.visible_height;
  if (is_new && out.is_streaming && !can_write) return false;
  if (is_new) {
    announce(codec, packet);
    return true;
  }
  if (!can_write) return false;
  const bool is_bad = packet.kind == FakePacket::Kind::damaged;
  paint(codec, out, packet.value);
  finish(out, static_cast<std::uint32_t>(plane_bytes(codec, out, 0)),
         is_bad               ? V4L2_BUF_FLAG_ERROR
         : packet.is_key != 0 ? V4L2_BUF_FLAG_KEYFRAME
                              : 0,
         time);
  finish(in, 0, 0, time);
  return true;
}

bool encode_one(FakeCodec& codec) {
  FakeQueue& in = codec.read;
  FakeQueue& out = codec.filled;
  if (codec.is_stopped || !in.is_streaming || !out.is_streaming || out.queued.empty()) return false;
  if (in.queued.empty()) {
    if (!codec.is_draining) return false;
    finish(out, 0, V4L2_BUF_FLAG_LAST, {});
    codec.is_stopped = true;
    return true;
  }
  const std::uint32_t index = in.queued.front();
  FakePacket packet{in.width, in.height, 0, FakePacket::Kind::image, 0};
  std::uint8_t value = 0;
  if (::pread(descriptor(in, index, 0), &value, 1, 0) != 1) return false;
  packet.value = value;
  std::int32_t& forced = codec.controls[V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME];
  const auto gop = static_cast<std::uint32_t>(codec.controls[V4L2_CID_MPEG_VIDEO_GOP_SIZE]);
  packet.is_key = codec.encoded++ % gop == 0 || std::exchange(forced, 0) != 0 ? 1 : 0;
  const timeval time = in.buffers[index].time;
  if (::pwrite(descriptor(out, out.queued.front(), 0), &packet, sizeof(packet), 0) < 0)
    return false;
  finish(out, sizeof(packet), packet.is_key != 0 ? V4L2_BUF_FLAG_KEYFRAME : 0, time);
  finish(in, 0, 0, time);
  return true;
}

}  // namespace

void work(FakeCodec& codec) {
  while (!codec.is_paused && (codec.is_encoder ? encode_one(codec) : decode_one(codec))) {
  }
  const bool has_news = !codec.events.empty() || !codec.read.done.empty() ||
                        !codec.filled.done.empty() || codec.is_last_out || codec.is_gone;
  itimerspec when{};
  when.it_value.tv_nsec = has_news ? 1 : 0;
  ::timerfd_settime(codec.timer.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace halyard::test
