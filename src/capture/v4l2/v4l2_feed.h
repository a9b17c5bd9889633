// SPDX-License-Identifier: Apache-2.0
// The V4L2 camera behind Camera.
#pragma once

#include <memory>
#include <string>

#include "capture/camera/camera_feed.h"

namespace halyard::capture {

/// The camera at a node. `options` have passed check_camera_options().
std::unique_ptr<CameraFeed> make_v4l2_feed(const std::string& path, const CameraOptions& options);

}  // namespace halyard::capture
