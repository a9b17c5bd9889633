// SPDX-License-Identifier: Apache-2.0
// Results of a plugin's functions as errors.
#include "capture/plugin/plugin_error.h"

#include <algorithm>
#include <cerrno>

#include "capture/v4l2/camera_device.h"

namespace halyard::capture {

std::string PluginReason::line() const {
  std::string text(bytes_.begin(), std::find(bytes_.begin(), bytes_.end(), '\0'));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

Status plugin_status(int result, const PluginReason& reason, const char* what,
                     const std::string& path) {
  const std::string line = reason.line();
  const std::string where = line.empty() ? path : path + ": " + line;
  switch (result) {
    case HAL_CAPTURE_OK:
      return {};
    case HAL_CAPTURE_GONE:
      return camera_error(what, ENODEV, where);
    case HAL_CAPTURE_NOT_FOUND:
      return camera_error(what, ENOENT, where);
    case HAL_CAPTURE_BUSY:
      return camera_error(what, EBUSY, where);
    case HAL_CAPTURE_DENIED:
      return camera_error(what, EACCES, where);
    case HAL_CAPTURE_NO_MEMORY:
      return camera_error(what, ENOMEM, where);
    case HAL_CAPTURE_UNSUPPORTED:
      return make_error(Errc::unsupported, what, where);
    default:
      return make_error(Errc::device, what, where, EIO);
  }
}

}  // namespace halyard::capture
