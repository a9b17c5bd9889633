// SPDX-License-Identifier: Apache-2.0
// The plugins of cameras that this process has found.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/c/capture_plugin.h"
#include "halyard/result.h"

namespace halyard::capture {

/// A plugin's file, and its table, which lives as long as the process. The error: it is refused.
struct KnownCameraPlugin {
  std::string path;
  Result<const hal_capture_plugin*> table;
};
/// Loads each file at its first call. Thread-safe.
std::vector<KnownCameraPlugin> known_camera_plugins();

/// The camera of a plugin: "libcamera:0", "libcamera:/base/soc/i2c0mux/i2c@1/imx219@10".
struct PluginAddress {
  std::string plugin;
  std::string camera;  ///< its id, or its number in the plugin's list
};
/// nullopt: the path names nothing of a plugin. Loads plugins only for a path that may.
std::optional<PluginAddress> plugin_address(const std::string& path);
/// The plugin of an address. Errors: unsupported (it is not there; the message tells how to get
/// libcamera's), those of loading it.
Result<const hal_capture_plugin*> find_camera_plugin(const std::string& name);

/// The table that an object exports, if it is whole. `path` is for messages. Errors: version,
/// malformed (the message names what is missing).
Result<const hal_capture_plugin*> check_plugin_table(const hal_capture_plugin* table,
                                                     const std::string& path);

}  // namespace halyard::capture
