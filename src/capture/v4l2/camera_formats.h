// SPDX-License-Identifier: Apache-2.0
// The formats, sizes and rates that a camera lists, and texts of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "capture/v4l2/camera_device.h"
#include "halyard/camera.h"

namespace halyard::capture {

/// In the driver's order.
std::vector<CameraFormat> list_formats(const CameraDevice& device);

/// For messages: "NV12, YUYV, MJPG".
std::string text_of_formats(std::span<const CameraFormat> formats);
/// "640x480, 1280x720" or "16x16 to 3840x2160".
std::string text_of_sizes(const CameraFormat& format);
/// "30, 15" or "1 to 60".
std::string text_of_rates(const CameraSize& size);

}  // namespace halyard::capture
