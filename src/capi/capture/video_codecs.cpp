// SPDX-License-Identifier: Apache-2.0
// The hardware codecs of the machine, in C.
#include "capi/capture/video_codecs.h"

#include "capi/capture/captures.h"
#include "capi/error.h"

namespace halyard::capi {
namespace {

hal_video_codec_info codec_info_to_c(const VideoCodecInfo& info) {
  hal_video_codec_info out{};
  copy_cut(info.path, out.path);
  copy_cut(info.name, out.name);
  copy_cut(info.driver, out.driver);
  copy_cut(info.bus, out.bus);
  out.is_encoder = info.is_encoder;
  out.is_multiplanar = info.is_multiplanar;
  out.is_usable = info.usable.has_value();
  if (!info.usable) copy_cut(info.usable.error().message(), out.reason);
  for (const VideoCodecInfo::Coded& coded : info.coded)
    out.codecs |= 1U << static_cast<unsigned>(coded.codec);
  return out;
}

}  // namespace

hal_video_codec_stats codec_stats_to_c(const VideoCodecStats& stats) noexcept {
  return {.packets = stats.packets,
          .images = stats.images,
          .damaged = stats.damaged,
          .refused = stats.refused,
          .copies = stats.copies,
          .formats = stats.formats,
          .held = stats.held};
}

}  // namespace halyard::capi

using namespace halyard;

int hal_video_codec_list(hal_video_codec_info* out, size_t capacity) {
  return capi::guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(capi::check_room(out, capacity));
    const auto codecs = list_video_codecs();
    for (std::size_t i = 0; i < std::min(capacity, codecs.size()); ++i)
      out[i] = capi::codec_info_to_c(codecs[i]);
    return static_cast<int>(codecs.size());
  });
}

const char* hal_video_codec_name(hal_video_codec codec) {
  if (!capi::has_enumerator<VideoCodec>(codec)) return "";
  // Names are literals, which end with a zero byte.
  return to_string(static_cast<VideoCodec>(codec)).data();
}
