// SPDX-License-Identifier: Apache-2.0
// The camera of a plugin behind Camera.
#pragma once

#include <memory>

#include "capture/camera/camera_feed.h"
#include "capture/plugin/camera_plugins.h"

namespace halyard::capture {

/// `options` have passed check_camera_options().
std::unique_ptr<CameraFeed> make_plugin_feed(PluginAddress address, const CameraOptions& options);

}  // namespace halyard::capture
