// SPDX-License-Identifier: Apache-2.0
// The hardware codecs of this machine.
#include <algorithm>
#include <string_view>

#include "base/text/format_error.h"
#include "capture/v4l2/camera_formats.h"
#include "halyard/trace.h"
#include "halyard/video_codec.h"

namespace halyard {
namespace {

using capture::CameraDevice;

// Fills in what one queue offers; whether it offers coded formats.
bool list_coded(const std::vector<CameraFormat>& formats, VideoCodecInfo& found) {
  for (const CameraFormat& format : formats) {
    const auto codec = codec_from_v4l2(format.fourcc);
    if (codec) found.coded.push_back({*codec, format.fourcc, format.description, format.sizes});
  }
  return !found.coded.empty();
}

Result<VideoCodecInfo> examine_codec(const std::string& path) {
  HALYARD_TRY(const auto device, CameraDevice::open_codec(capture::v4l2_calls(), path));
  VideoCodecInfo found;
  found.path = path;
  found.name = device->name();
  found.driver = device->driver();
  found.bus = device->bus();
  found.is_multiplanar = device->is_multiplanar();
  auto filled = capture::list_formats(*device);
  auto read = capture::list_formats(*device->queue(true));
  // A codec of JPEGs decodes where the driver reads them.
  found.is_encoder = !list_coded(read, found);
  if (found.is_encoder && !list_coded(filled, found))
    return fail(Errc::unsupported, "codec: the device codes no stream", "{}: {}", path, found.name);
  found.raw = found.is_encoder ? std::move(read) : std::move(filled);
  std::erase_if(found.raw, [](const CameraFormat& format) { return !format.layout; });
  return found;
}

bool may_code(std::string_view name) {
  return name.find("codec") != std::string_view::npos ||
         name.find("enc") != std::string_view::npos || name.find("dec") != std::string_view::npos;
}

}  // namespace

std::vector<VideoCodecInfo> list_video_codecs() {
  trace::Span span("capture.list_video_codecs");
  std::vector<VideoCodecInfo> codecs;
  for (const std::string& path : capture::v4l2_calls().nodes()) {
    auto found = examine_codec(path);
    if (found) {
      codecs.push_back(*std::move(found));
      continue;
    }
    VideoCodecInfo closed;
    closed.path = path;
    closed.name = capture::v4l2_calls().name_of(path);
    closed.usable = found.error();
    if (found.error().code != Errc::unsupported && may_code(closed.name))
      codecs.push_back(std::move(closed));
  }
  return codecs;
}

}  // namespace halyard
