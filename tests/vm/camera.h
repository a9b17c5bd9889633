// SPDX-License-Identifier: Apache-2.0
// The test camera of the kernel (vivid), driven by V4L2 calls and nothing of the library.
#pragma once

#include <linux/videodev2.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halyard/drm.h"
#include "halyard/fd.h"
#include "vm/devices.h"

namespace halyard::vm {

/// What a driver answers to a request for a format; one entry for each of its memory planes.
struct CameraFormat {
  std::uint32_t fourcc = 0;
  std::size_t width = 0;
  std::size_t height = 0;
  V4l2Colorimetry codes;
  struct Plane {
    std::size_t stride_bytes = 0;
    std::size_t size_bytes = 0;
  };
  std::vector<Plane> planes;
};

struct CameraFrame {
  unsigned index = 0;                     ///< of the buffer that holds it
  std::vector<std::size_t> offset_bytes;  ///< where the pixels begin in each memory plane
};

/// What the camera can be told to show. `squares` vary in colour both ways, `noise` in brightness
/// from pixel to pixel; both have the time in them, so that no two frames are the same.
enum class Scene : int { squares = 4, red = 7, green = 8, blue = 9, noise = 21 };

/// Each call is false, empty or none when the driver refuses; errno tells.
class Camera {
 public:
  /// The first test camera that gives each plane a buffer of its own, or the first that does not.
  static std::optional<Camera> open(bool multiplanar);

  const std::string& node() const { return node_; }
  std::vector<std::uint32_t> formats() const;
  /// The driver may answer with something else. Codes of 0 are the defaults, as in V4L2.
  std::optional<CameraFormat> set_format(std::uint32_t fourcc, std::size_t width,
                                         std::size_t height, std::size_t stride_bytes = 0,
                                         const V4l2Colorimetry& codes = {V4L2_COLORSPACE_SRGB});
  bool show(Scene scene);

  /// Buffers of the driver (V4L2_MEMORY_MMAP), or places for those of others (V4L2_MEMORY_DMABUF);
  /// 0 lets go of them.
  bool request(std::uint32_t memory, unsigned count);
  /// A descriptor of a plane of the driver's buffer. Each call makes a DMA-BUF of its own.
  Fd export_plane(unsigned index, unsigned plane) const;
  /// The driver's own mapping of it.
  NodeMapping map_plane(unsigned index, unsigned plane) const;
  /// Hands a buffer to the driver; `fds` are those of the planes when the memory is of others.
  bool queue(unsigned index, std::span<const int> fds = {});
  bool start();
  /// Waits for a frame, 10 seconds at most.
  std::optional<CameraFrame> next();
  bool stop();

 private:
  Camera(std::string node, Fd fd, std::uint32_t type)
      : node_(std::move(node)), fd_(std::move(fd)), type_(type) {}
  bool multiplanar() const { return type_ == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE; }
  bool control(std::uint32_t id, int value);
  bool forget_colorimetry();
  bool fastest();

  std::string node_;
  Fd fd_;
  std::uint32_t type_;
  std::uint32_t memory_ = V4L2_MEMORY_MMAP;
  CameraFormat format_;
};

}  // namespace halyard::vm
