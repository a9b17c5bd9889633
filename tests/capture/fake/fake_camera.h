// SPDX-License-Identifier: Apache-2.0
// Cameras without a kernel: the calls of V4L2 answered by the test, with frames on demand, and
// failures.
#pragma once

#include <linux/videodev2.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "capture/fake/fake_nodes.h"
#include "halyard/fd.h"

namespace halyard::test {

struct FakeSize {
  std::uint32_t width = 0, height = 0;
  std::vector<std::uint32_t> rates;
  std::uint32_t step = 0;  ///< not 0: any size from step x step to this one
};
struct FakeFormat {
  std::uint32_t fourcc = 0;
  std::vector<FakeSize> sizes;
  std::size_t planes = 1;        ///< of memory
  std::uint32_t padding = 0;     ///< bytes behind each row
  std::size_t offset_bytes = 0;  ///< where the pixels begin; more than 0 only with mplane
};
struct FakeControl {
  std::uint32_t id = 0, type = V4L2_CTRL_TYPE_INTEGER;
  std::string name;
  std::int32_t minimum = 0, maximum = 100, step = 1, value = 50;
  std::uint32_t flags = 0;
  std::vector<std::string> menu;  ///< an empty text: a gap
};

/// One camera. The test changes the members; the calls use them. Thread-safe with the lock of
/// FakeCameras.
struct FakeNode {
  std::string path, name = "Fake Camera", driver = "fake", bus = "platform:fake-0";
  std::uint32_t caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
  std::vector<FakeFormat> formats;
  std::vector<FakeControl> controls;
  bool has_export = true, has_dmabuf = true, has_userptr = true, is_monotonic = true;
  std::uint32_t max_buffers = 32;
  double kept_rate = 0;                  ///< not 0: the rate whatever is asked
  std::map<unsigned long, int> failing;  ///< request -> errno
  int open_errno = 0;
  int pointer_errno = 0;  ///< of memory of the caller that is not a DMA-BUF

  // What the calls have led to.
  Fd event;  ///< a copy of the open descriptor: readable while a frame waits
  std::uint32_t fourcc = 0, width = 0, height = 0, stride = 0;
  std::uint32_t memory = 0, sequence = 0;
  v4l2_fract period{1, 30};
  bool is_streaming = false, is_gone = false;
  std::vector<std::vector<Fd>> buffers;             ///< by index, by plane
  std::map<std::uint32_t, std::vector<int>> given;  ///< descriptors of the caller
  std::map<std::uint32_t, std::vector<std::span<std::byte>>> pointed;  ///< memory of the caller
  int pins = 0;  ///< times that a place got other memory than before
  std::deque<std::uint32_t> queued;
  struct Done {
    std::uint32_t index = 0, sequence = 0, bytes = 0, flags = 0;
  };
  std::deque<Done> done;
  int opened = 0;

  bool is_multi() const { return (caps & V4L2_CAP_VIDEO_CAPTURE_MPLANE) != 0; }
  const FakeFormat* format() const;
  std::size_t plane_bytes(std::size_t plane) const;
};

/// A camera with one format, 64x32 at 30 frames per second.
FakeNode node_of(std::uint32_t fourcc, std::size_t planes = 1, std::uint32_t padding = 0);

/// Takes the place of the system's calls while it exists.
class FakeCameras final : public FakeNodes<FakeNode> {
 public:
  /// Fills the next queued buffer: each plane with `value` + its number, or the first with `bytes`.
  /// False: the driver has no buffer, and drops the frame.
  bool produce(FakeNode& node, std::uint8_t value, std::uint32_t flags = 0);
  bool produce(FakeNode& node, std::span<const std::byte> bytes, std::uint32_t flags = 0);
  void unplug(FakeNode& node);
  void plug(FakeNode& node, const std::string& path);
  std::size_t queued(const FakeNode& node) const;

  int open_node(const std::string& path) override;
  Result<MappedMemory> map_buffer(int fd, std::size_t offset, std::size_t size,
                                  bool is_writable) override;

 private:
  int answer(FakeNode& node, unsigned long request, void* argument) override;
  bool finish(FakeNode& node, std::uint32_t flags, std::size_t bytes,
              std::span<const std::byte> data, std::uint8_t value);
};

}  // namespace halyard::test
