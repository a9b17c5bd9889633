// SPDX-License-Identifier: Apache-2.0
// The cameras of this machine.
#include "capture/plugin/camera_plugins.h"
#include "capture/plugin/plugin_camera.h"
#include "capture/v4l2/camera_controls.h"
#include "capture/v4l2/camera_formats.h"
#include "halyard/camera.h"
#include "halyard/log.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

using capture::CameraDevice;
using capture::V4l2Calls;

Result<CameraInfo> examine(V4l2Calls& calls, const std::string& path) {
  HALYARD_TRY(const auto device, CameraDevice::open(calls, path));
  CameraInfo found;
  found.path = path;
  found.name = device->name();
  found.driver = device->driver();
  found.bus = device->bus();
  found.is_multiplanar = device->is_multiplanar();
  found.formats = capture::list_formats(*device);
  HALYARD_TRY(found.controls, capture::list_controls(*device));
  return found;
}

// A plugin that cannot list its cameras has none here; list_camera_plugins() and camera_info() tell
// more of it.
void add_cameras_of_plugins(std::vector<CameraInfo>& cameras) {
  for (const capture::KnownCameraPlugin& known : capture::known_camera_plugins()) {
    if (!known.table) continue;
    const hal_capture_plugin& table = **known.table;
    auto found = capture::cameras_of_plugin(table);
    if (!found) {
      log(LogLevel::warn, "capture", found.error().message());
      continue;
    }
    for (CameraInfo& info : *found) {
      const std::string id = info.path.substr(std::string_view(table.name).size() + 1);
      if (auto described = capture::describe_plugin_camera(table, id))
        info = *std::move(described);
      else
        info.usable = described.error();
      cameras.push_back(std::move(info));
    }
  }
}

}  // namespace

Result<CameraInfo> camera_info(const std::string& path) {
  trace::Span span("capture.camera_info");
  const auto address = capture::plugin_address(path);
  if (!address) return examine(capture::v4l2_calls(), path);
  HALYARD_TRY(const hal_capture_plugin* const table, capture::find_camera_plugin(address->plugin));
  HALYARD_TRY(const std::string id, capture::find_plugin_camera(*table, address->camera));
  return capture::describe_plugin_camera(*table, id);
}

std::vector<CameraInfo> list_cameras() {
  trace::Span span("capture.list_cameras");
  V4l2Calls& calls = capture::v4l2_calls();
  std::vector<CameraInfo> cameras;
  for (const std::string& path : calls.nodes()) {
    auto found = examine(calls, path);
    if (!found && found.error().code == Errc::unsupported) continue;
    if (found) {
      cameras.push_back(*std::move(found));
    } else {
      CameraInfo closed;
      closed.path = path;
      closed.name = calls.name_of(path);
      closed.usable = found.error();
      cameras.push_back(std::move(closed));
    }
  }
  add_cameras_of_plugins(cameras);
  return cameras;
}

}  // namespace halyard
