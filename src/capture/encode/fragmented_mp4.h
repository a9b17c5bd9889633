// SPDX-License-Identifier: Apache-2.0
// Segments of a fragmented MP4 with one H.264 track (ISO/IEC 14496-12 and -15): the initialization,
// and one fragment for each sample.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <cstdint>
#include <span>
#include <string>

#include "capture/ffmpeg/ffmpeg.h"
#include "halyard/result.h"

namespace halyard::capture {

/// Ticks of a second in the segments.
inline constexpr std::uint32_t mp4_time_scale = 1'000'000;

/// What a player needs before the first sample.
struct Mp4Track {
  std::string initialization;  ///< ftyp and moov
  std::string mime_type;       ///< RFC 6381: video/mp4; codecs="avc1.PPCCLL"
};

/// `parameters`: of an H.264 encoder, with its parameter sets in Annex B. FFmpeg is loaded. Errors:
/// malformed (no parameter sets), no_memory, os.
Result<Mp4Track> mp4_track(const AVCodecParameters& parameters);

struct Mp4Sample {
  std::uint32_t number = 1;    ///< of the fragment, from 1
  std::uint64_t time = 0;      ///< in ticks
  std::uint32_t duration = 0;  ///< in ticks
  bool is_key = false;
};

/// moof and mdat. `units`: the sample in Annex B; parameter sets in it are left out, because the
/// initialization has them.
std::string mp4_fragment(const Mp4Sample& sample, std::span<const std::uint8_t> units);

}  // namespace halyard::capture

#endif
