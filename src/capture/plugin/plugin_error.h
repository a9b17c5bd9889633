// SPDX-License-Identifier: Apache-2.0
// Results of a plugin's functions as errors.
#pragma once

#include <array>
#include <string>

#include "halyard/c/capture_plugin.h"
#include "halyard/result.h"

namespace halyard::capture {

/// Where a plugin writes its reasons.
class PluginReason {
 public:
  char* data() noexcept { return bytes_.data(); }
  /// One line, also if the plugin wrote no end.
  std::string line() const;

 private:
  std::array<char, HAL_CAPTURE_TEXT_BYTES> bytes_{};
};

/// The result of a plugin's function. `what`: a literal, for results without a meaning of their own
/// for cameras. `path`: of the camera.
Status plugin_status(int result, const PluginReason& reason, const char* what,
                     const std::string& path);

}  // namespace halyard::capture
