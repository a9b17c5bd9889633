// SPDX-License-Identifier: Apache-2.0
// One row for each codec.
#include "capture/m2m/codec_table.h"

#include <linux/v4l2-controls.h>
#include <linux/videodev2.h>

#include <array>

#include "halyard/enumerators.h"

// Headers of kernels before 6.2 and 5.17.
#ifndef V4L2_PIX_FMT_AV1
#define V4L2_PIX_FMT_AV1 v4l2_fourcc('A', 'V', '0', '1')
#endif

namespace halyard {
namespace {

struct CodecRow {
  VideoCodec codec;
  std::uint32_t fourcc;
  capture::CodecControls controls;
};
constexpr std::array codec_rows = {
    CodecRow{VideoCodec::h264,
             V4L2_PIX_FMT_H264,
             {V4L2_CID_MPEG_VIDEO_H264_PROFILE, V4L2_CID_MPEG_VIDEO_H264_LEVEL}},
    CodecRow{VideoCodec::hevc,
             V4L2_PIX_FMT_HEVC,
             {V4L2_CID_MPEG_VIDEO_HEVC_PROFILE, V4L2_CID_MPEG_VIDEO_HEVC_LEVEL}},
    CodecRow{VideoCodec::mpeg2,
             V4L2_PIX_FMT_MPEG2,
             {V4L2_CID_MPEG_VIDEO_MPEG2_PROFILE, V4L2_CID_MPEG_VIDEO_MPEG2_LEVEL}},
    CodecRow{VideoCodec::mpeg4,
             V4L2_PIX_FMT_MPEG4,
             {V4L2_CID_MPEG_VIDEO_MPEG4_PROFILE, V4L2_CID_MPEG_VIDEO_MPEG4_LEVEL}},
    CodecRow{VideoCodec::vp8, V4L2_PIX_FMT_VP8, {V4L2_CID_MPEG_VIDEO_VP8_PROFILE, 0}},
    CodecRow{VideoCodec::vp9,
             V4L2_PIX_FMT_VP9,
             {V4L2_CID_MPEG_VIDEO_VP9_PROFILE, V4L2_CID_MPEG_VIDEO_VP9_LEVEL}},
    CodecRow{VideoCodec::av1, V4L2_PIX_FMT_AV1, {}},
    CodecRow{VideoCodec::mjpeg, V4L2_PIX_FMT_MJPEG, {}},
    CodecRow{VideoCodec::fwht, V4L2_PIX_FMT_FWHT, {}},
};

const CodecRow& row_of(VideoCodec codec) noexcept {
  return codec_rows[static_cast<std::size_t>(codec)];
}
static_assert([] {
  for (std::size_t i = 0; i < codec_rows.size(); ++i)
    if (static_cast<std::size_t>(codec_rows[i].codec) != i) return false;
  return true;
}());

}  // namespace

std::string_view to_string(VideoCodec codec) noexcept {
  return enumerator_name(codec, "unknown");
}

std::uint32_t v4l2_coded_format(VideoCodec codec) noexcept {
  return row_of(codec).fourcc;
}

std::optional<VideoCodec> codec_from_v4l2(std::uint32_t fourcc) noexcept {
  // Codecs of single JPEGs take and give the same bytes.
  if (fourcc == V4L2_PIX_FMT_JPEG) return VideoCodec::mjpeg;
  for (const CodecRow& row : codec_rows)
    if (row.fourcc == fourcc) return row.codec;
  return std::nullopt;
}

capture::CodecControls capture::codec_controls(VideoCodec codec) noexcept {
  return row_of(codec).controls;
}

}  // namespace halyard
