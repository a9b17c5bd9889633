// SPDX-License-Identifier: Apache-2.0
// CameraDevice: an open camera node, its identity, and its format.
#pragma once

#include <linux/videodev2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/local.h"
#include "capture/v4l2/calls.h"
#include "halyard/drm.h"
#include "halyard/fd.h"
#include "halyard/result.h"

namespace halyard::capture {

/// The error of a camera's failed call. `what` is used where the errno has no meaning of its own
/// for cameras. Errors: not_found, permission, busy, device, no_memory, exhausted (bandwidth), os.
[[gnu::cold]] Error camera_error(const char* what, int os_errno, const std::string& path);
/// Whether a camera that failed so may come back: it was unplugged, or its driver failed.
bool is_camera_gone(const Error& error) noexcept;

/// A format that a driver is asked for, and its answer. One entry for each of its memory planes.
struct DriverFormat {
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

/// Thread-safe: the kernel orders the calls.
class HALYARD_LOCAL CameraDevice {
 public:
  /// Errors: those of camera_error(), unsupported (the node captures no images, or not into
  /// buffers).
  static Result<std::unique_ptr<CameraDevice>> open(V4l2Calls& calls, const std::string& path);
  CameraDevice(const CameraDevice&) = delete;
  CameraDevice& operator=(const CameraDevice&) = delete;

  const std::string& path() const noexcept { return path_; }
  const std::string& name() const noexcept { return name_; }
  const std::string& driver() const noexcept { return driver_; }
  const std::string& bus() const noexcept { return bus_; }
  bool is_multiplanar() const noexcept { return type_ == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE; }
  /// Of the queue of buffers: V4L2_BUF_TYPE_*.
  std::uint32_t type() const noexcept { return type_; }
  int fd() const noexcept { return fd_.get(); }
  V4l2Calls& calls() const noexcept { return calls_; }

  /// 0, or the errno.
  int call(unsigned long request, void* argument) const {
    return calls_.control_node(fd_.get(), request, argument);
  }
  Result<DriverFormat> format() const;
  /// The driver's answer may be another format. A stride of 0: the driver's choice. Errors: those
  /// of camera_error().
  Result<DriverFormat> set_format(std::uint32_t fourcc, std::size_t width, std::size_t height,
                                  std::size_t stride_bytes) const;
  /// Sets frames per second and returns the driver's answer; 0: the driver has no rates.
  Result<double> set_rate(double rate) const;

 private:
  CameraDevice(V4l2Calls& calls, const std::string& path, Fd fd)
      : calls_(calls), path_(path), fd_(std::move(fd)) {}
  Status identify();

  V4l2Calls& calls_;
  std::string path_;
  Fd fd_;
  std::uint32_t type_ = 0;
  std::string name_;
  std::string driver_;
  std::string bus_;
};

}  // namespace halyard::capture
