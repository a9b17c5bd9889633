// SPDX-License-Identifier: Apache-2.0
// A camera as a source of frames.
#pragma once

#include <string>

#include "capture/source.h"

namespace halyard::capture {

/// Whether a path names a camera: "camera:0", "camera:/dev/video0", or the node of a video device.
bool is_camera(const std::string& path);

/// The frames of a camera with default options, the newest of those that wait. Errors: those of
/// Camera::open(), invalid_argument ("camera:" without a number or a path).
SourceResult camera_source(const std::string& path, const Options& options);

}  // namespace halyard::capture
