// SPDX-License-Identifier: Apache-2.0
// What V4L2 calls the codecs and their profiles.
#pragma once

#include <cstdint>
#include <optional>

#include "halyard/video_codec.h"

namespace halyard::capture {

/// V4L2_CID_*; 0: the codec has none.
struct CodecControls {
  std::uint32_t profile = 0;
  std::uint32_t level = 0;
};
CodecControls codec_controls(VideoCodec codec) noexcept;

}  // namespace halyard::capture
