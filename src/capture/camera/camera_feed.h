// SPDX-License-Identifier: Apache-2.0
// CameraFeed: what Camera needs of a camera, whatever drives it: V4L2 or a plugin.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/v4l2/camera_buffers.h"
#include "halyard/camera.h"

namespace halyard::capture {

/// The functions serve one thread at a time, which is that of Camera::next(), unless they are
/// marked as thread-safe.
class CameraFeed {
 public:
  CameraFeed() = default;
  CameraFeed(const CameraFeed&) = delete;
  CameraFeed& operator=(const CameraFeed&) = delete;
  /// Stops. Images stay valid.
  virtual ~CameraFeed() = default;

  /// Finds the camera at its path; after a loss, wherever it is plugged in again. Errors: those of
  /// Camera::open().
  virtual Status open() = 0;
  /// Starts the camera that open() has found, and fills in all of `mode` but its path.
  virtual Status start(CameraMode& mode) = 0;
  virtual void stop() noexcept = 0;
  /// Of the camera that runs: readable where take() would give a buffer or an error. Borrowed.
  virtual int fd() const noexcept = 0;

  /// A buffer that the camera has filled; nullopt: there is none yet. Errors: device.
  virtual Result<std::optional<FilledBuffer>> take() = 0;
  /// Whether it has as many bytes as the image.
  virtual bool is_complete(const FilledBuffer& filled) const noexcept = 0;
  /// Hands a buffer that was taken to the camera again. Errors: device.
  virtual Status put_back(std::uint32_t index) = 0;
  /// The image of a buffer that was taken. It holds the buffer, or else the camera has it again.
  /// Errors: corrupt or malformed (a JPEG), those of allocate(), device.
  virtual Result<Tensor> make_image(const FilledBuffer& filled) = 0;
  /// Number of buffers that images hold. Thread-safe.
  virtual std::uint32_t held() const noexcept = 0;
  /// Whether the camera has no buffer to fill. Thread-safe.
  virtual bool is_starved() const noexcept = 0;

  /// Thread-safe. Errors: device (it does not run).
  virtual Result<std::vector<CameraControl>> controls() const = 0;
  /// Sets a control of controls(), whose value was not checked. Thread-safe.
  virtual Status put_control(const CameraControl& control, std::int64_t value) const = 0;
};

}  // namespace halyard::capture
