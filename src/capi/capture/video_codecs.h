// SPDX-License-Identifier: Apache-2.0
// What decoders and encoders of the C interface share.
#pragma once

#include "capi/arguments.h"
#include "halyard/c/video_codec.h"
#include "halyard/video_codec.h"

namespace halyard::capi {

inline Result<VideoCodec> video_codec_from(int value) {
  return enumerator<VideoCodec>(value, "codec: must be a value of hal_video_codec");
}

/// "" for NULL, which means any.
inline std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

hal_video_codec_stats codec_stats_to_c(const VideoCodecStats& stats) noexcept;

}  // namespace halyard::capi
