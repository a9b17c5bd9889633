// SPDX-License-Identifier: Apache-2.0
// The one CameraManager of this process.
#pragma once

#include <libcamera/camera_manager.h>

#include <memory>
#include <string>
#include <vector>

namespace halyard::libcamera_plugin {

using CameraPtr = std::shared_ptr<libcamera::Camera>;

/// Starts it at the first call; it has a thread, which lives as long as the process. Null: it does
/// not start, or it was started before fork(); `text` then tells why. Thread-safe.
libcamera::CameraManager* manager(char* text);

/// Writes a reason into HAL_CAPTURE_TEXT_BYTES bytes.
void tell(char* text, const std::string& reason);

}  // namespace halyard::libcamera_plugin
