// SPDX-License-Identifier: Apache-2.0
// The cameras of this machine.
#include "capture/v4l2/camera_controls.h"
#include "capture/v4l2/camera_formats.h"
#include "halyard/camera.h"
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

}  // namespace

Result<CameraInfo> camera_info(const std::string& path) {
  trace::Span span("capture.camera_info");
  return examine(capture::v4l2_calls(), path);
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
  return cameras;
}

}  // namespace halyard
