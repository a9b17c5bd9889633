// SPDX-License-Identifier: Apache-2.0
// Owners of FFmpeg's objects; conversion of its errors and its log to Halyard's. Only built with
// FFmpeg.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <memory>
#include <optional>
#include <string>

#include "capture/ffmpeg/ffmpeg_calls.h"
#include "halyard/colorimetry.h"
#include "halyard/format.h"
#include "halyard/result.h"

namespace halyard::capture {

struct FreeInput {
  void operator()(AVFormatContext* p) const noexcept { ffmpeg().avformat_close_input(&p); }
};
struct FreeOutput {
  void operator()(AVFormatContext* p) const noexcept { ffmpeg().avformat_free_context(p); }
};
struct FreeCodec {
  void operator()(AVCodecContext* p) const noexcept { ffmpeg().avcodec_free_context(&p); }
};
struct FreeParameters {
  void operator()(AVCodecParameters* p) const noexcept { ffmpeg().avcodec_parameters_free(&p); }
};
struct FreeFrame {
  void operator()(AVFrame* p) const noexcept { ffmpeg().av_frame_free(&p); }
};
struct FreePacket {
  void operator()(AVPacket* p) const noexcept { ffmpeg().av_packet_free(&p); }
};
using InputPtr = std::unique_ptr<AVFormatContext, FreeInput>;
using OutputPtr = std::unique_ptr<AVFormatContext, FreeOutput>;
using CodecPtr = std::unique_ptr<AVCodecContext, FreeCodec>;
using ParametersPtr = std::unique_ptr<AVCodecParameters, FreeParameters>;
using FramePtr = std::unique_ptr<AVFrame, FreeFrame>;
using PacketPtr = std::unique_ptr<AVPacket, FreePacket>;

/// FFmpeg prints to stderr by default; this sends its text to Halyard's log (level debug) instead.
/// load_ffmpeg() calls it. Thread-safe.
void route_ffmpeg_log();

/// `code` is negative, as FFmpeg returns it. A system error keeps its errno; other errors get
/// `otherwise`. The detail is "name: FFmpeg's text".
Error ffmpeg_error(const char* what, int code, const std::string& name, Errc otherwise);

/// The format with the same memory layout; nullopt if there is none.
std::optional<PixelFormat> pixel_format_of(int ffmpeg_format) noexcept;
std::string name_of_format(int ffmpeg_format);

/// The frame's colour fields as Halyard's values; fields that FFmpeg does not know are unknown.
Colorimetry colorimetry_of(const AVFrame& frame) noexcept;
/// Those of a stream, from its container or its codec.
Colorimetry colorimetry_of(const AVCodecParameters& stream) noexcept;
/// The reverse; unknown axes are left unspecified.
void set_colorimetry(AVCodecContext& codec, const Colorimetry& colorimetry) noexcept;

}  // namespace halyard::capture

#endif
