// SPDX-License-Identifier: Apache-2.0
// A codec without a kernel: the protocol of stateful decoders and encoders, answered at once. A
// packet is FakePacket; an image has its value in all bytes.
#pragma once

#include <linux/videodev2.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "capture/fake/fake_nodes.h"
#include "halyard/fd.h"

namespace halyard::test {

/// What the fake codes: an image of one value.
struct FakePacket {
  enum class Kind : std::uint32_t { image, nothing, damaged };
  std::uint32_t width = 64, height = 32, value = 0;
  Kind kind = Kind::image;
  std::uint32_t is_key = 0;
  std::array<std::byte, 20> bytes() const {
    std::array<std::byte, 20> all{};
    std::memcpy(all.data(), this, all.size());
    return all;
  }
};
static_assert(sizeof(FakePacket) == 20);

struct FakeQueue {
  struct Buffer {
    std::vector<Fd> planes;
    std::vector<int> given;  ///< descriptors of the caller
    timeval time{};
    std::uint32_t used = 0, flags = 0;
  };
  std::uint32_t fourcc = 0, width = 64, height = 32, stride = 64, size = 4096;
  std::uint32_t memory = V4L2_MEMORY_MMAP, planes = 1;
  std::vector<Buffer> buffers;
  std::deque<std::uint32_t> queued, done;
  bool is_streaming = false;
};

/// One node. The test changes the first members; the calls change the others.
struct FakeCodec {
  std::string path, name = "Fake Codec";
  bool is_encoder = false, is_multi = false, has_export = true, has_dmabuf = true;
  std::uint32_t coded = V4L2_PIX_FMT_H264;
  std::vector<std::uint32_t> raw = {V4L2_PIX_FMT_NV12};
  std::uint32_t align = 1;  ///< the frame's size is a multiple
  bool is_paused = false;   ///< it takes buffers and does not work
  /// Reads a packet of another stream; unset: its bytes are a FakePacket.
  std::function<FakePacket(std::span<const std::byte>)> parse;
  bool refuses_release = false;  ///< REQBUFS 0 fails while descriptors are out: Linux before 5.0
  std::map<unsigned long, int> failing;
  std::map<std::uint32_t, std::int32_t> controls = {{V4L2_CID_MPEG_VIDEO_BITRATE, 1000},
                                                    {V4L2_CID_MPEG_VIDEO_GOP_SIZE, 4},
                                                    {V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME, 0}};

  FakeQueue read, filled;  ///< OUTPUT, CAPTURE
  std::deque<std::uint32_t> events;
  bool is_draining = false, is_stopped = false, is_last_out = false, is_changing = false;
  bool is_gone = false;
  std::uint32_t visible_width = 0, visible_height = 0;  ///< 0: no stream yet
  std::uint32_t encoded = 0;
  v4l2_fract period{1, 30};
  Fd timer;  ///< a copy of the open descriptor: readable while there is something to take
  std::vector<std::string> log;  ///< calls that change the state, in order
};

/// Takes the place of the system's calls while it exists. Thread-safe.
class FakeCodecs final : public FakeNodes<FakeCodec> {
 public:
  /// Works on what waits.
  void run(FakeCodec& codec);
  void unplug(FakeCodec& codec);
  /// Buffers that the driver has, of the queue that it fills.
  std::size_t queued(const FakeCodec& codec) const;

  int open_node(const std::string& path) override;
  Result<MappedMemory> map_buffer(int fd, std::size_t offset, std::size_t size,
                                  bool is_writable) override;

 private:
  int answer(FakeCodec& codec, unsigned long request, void* argument) override;
};

}  // namespace halyard::test
