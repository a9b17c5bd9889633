// SPDX-License-Identifier: Apache-2.0
// The controls of an open camera.
#pragma once

#include <string_view>
#include <vector>

#include "capture/v4l2/camera_device.h"
#include "halyard/camera.h"

namespace halyard::capture {

/// Errors: device.
Result<std::vector<CameraControl>> list_controls(const CameraDevice& device);

/// As the functions of Camera.
Result<std::int64_t> read_control(const CameraDevice& device, std::string_view name);
Status write_control(const CameraDevice& device, std::string_view name, std::int64_t value);
Status write_control(const CameraDevice& device, std::string_view name, std::string_view entry);

}  // namespace halyard::capture
