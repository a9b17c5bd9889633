// SPDX-License-Identifier: Apache-2.0
// Chooses the format, size and rate to ask a camera for.
#pragma once

#include <span>

#include "capture/v4l2/camera_device.h"
#include "halyard/camera.h"

namespace halyard::capture {

/// A size or rate of 0: what the camera has now.
struct CameraChoice {
  std::uint32_t fourcc = 0;
  std::size_t width = 0;
  std::size_t height = 0;
  double rate = 0;
};

/// Checks the values of options by themselves. Errors: invalid_argument.
Status check_camera_options(const CameraOptions& options);

/// Errors: unsupported; the message has what the camera offers instead.
Result<CameraChoice> choose_mode(std::span<const CameraFormat> formats,
                                 const CameraOptions& options);

}  // namespace halyard::capture
