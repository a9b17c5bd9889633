// SPDX-License-Identifier: Apache-2.0
// CameraDevice: an open node of a camera or a codec, its identity, and the format of a queue.
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
/// The same for a codec. Errors: also exhausted (no capacity of the hardware).
[[gnu::cold]] Error codec_error(const char* what, int os_errno, const std::string& path);
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

/// What set_format() asks for beside size and stride; 0 and empty: the driver's choice.
struct FormatWish {
  V4l2Colorimetry codes;
  std::size_t size_bytes = 0;  ///< of a buffer for coded bytes
};

/// One queue of buffers of a node: a camera has one, a codec has two over the same descriptor.
/// Thread-safe: the kernel orders the calls.
class HALYARD_LOCAL CameraDevice {
 public:
  /// Errors: those of camera_error(), unsupported (the node captures no images, or not into
  /// buffers).
  static Result<std::unique_ptr<CameraDevice>> open(V4l2Calls& calls, const std::string& path);
  /// The queue of a codec that the driver fills (CAPTURE). Errors: those of codec_error(),
  /// unsupported (the node is no device from memory to memory).
  static Result<std::unique_ptr<CameraDevice>> open_codec(V4l2Calls& calls,
                                                          const std::string& path);
  /// Another handle on the queue that the driver fills, or on the one that it reads (OUTPUT).
  std::unique_ptr<CameraDevice> queue(bool is_read_by_driver) const;
  CameraDevice& operator=(const CameraDevice&) = delete;

  const std::string& path() const noexcept { return path_; }
  const std::string& name() const noexcept { return name_; }
  const std::string& driver() const noexcept { return driver_; }
  const std::string& bus() const noexcept { return bus_; }
  bool is_multiplanar() const noexcept {
    return type_ == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE ||
           type_ == V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE;
  }
  bool is_codec() const noexcept { return is_codec_; }
  bool is_read_by_driver() const noexcept {
    return type_ == V4L2_BUF_TYPE_VIDEO_OUTPUT || type_ == V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE;
  }
  /// Of the queue of buffers: V4L2_BUF_TYPE_*.
  std::uint32_t type() const noexcept { return type_; }
  int fd() const noexcept { return fd_->get(); }
  V4l2Calls& calls() const noexcept { return calls_; }

  /// 0, or the errno.
  int call(unsigned long request, void* argument) const {
    return calls_.control_node(fd_->get(), request, argument);
  }
  /// camera_error() or codec_error() of this node.
  [[gnu::cold]] Error error(const char* what, int os_errno) const;
  Result<DriverFormat> format() const;
  /// The driver's answer may be another format. A stride of 0: the driver's choice. Errors: those
  /// of camera_error().
  Result<DriverFormat> set_format(std::uint32_t fourcc, std::size_t width, std::size_t height,
                                  std::size_t stride_bytes, const FormatWish& wish = {}) const;
  /// Sets frames per second and returns the driver's answer; 0: the driver has no rates.
  Result<double> set_rate(double rate) const;

 private:
  CameraDevice(const CameraDevice&) = default;
  CameraDevice(V4l2Calls& calls, const std::string& path, Fd fd, bool is_codec)
      : calls_(calls),
        path_(path),
        fd_(std::make_shared<const Fd>(std::move(fd))),
        is_codec_(is_codec) {}
  static Result<std::unique_ptr<CameraDevice>> open_as(V4l2Calls& calls, const std::string& path,
                                                       bool is_codec);
  Status identify();
  Status choose_type(std::uint32_t can);

  V4l2Calls& calls_;
  std::string path_;
  std::shared_ptr<const Fd> fd_;
  bool is_codec_ = false;
  std::uint32_t type_ = 0;
  std::string name_;
  std::string driver_;
  std::string bus_;
};

}  // namespace halyard::capture
