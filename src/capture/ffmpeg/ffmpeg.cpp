// SPDX-License-Identifier: Apache-2.0
// Converts errors, log messages and colour names between FFmpeg and Halyard.
#include "capture/ffmpeg/ffmpeg.h"

#ifdef HALYARD_HAVE_FFMPEG

#include <array>
#include <cstdarg>
#include <string_view>

#include "base/text/format_error.h"
#include "base/text/log_format.h"

namespace halyard::capture {
namespace {

void log_callback(void* context, int level, const char* format, va_list arguments) {
  if (level > AV_LOG_WARNING || log_level() < LogLevel::debug) return;
  std::array<char, 512> line{};
  int print_prefix = 1;
  ffmpeg().av_log_format_line2(context, level, format, arguments, line.data(), line.size(),
                               &print_prefix);
  std::string_view text(line.data());
  while (!text.empty() && text.back() == '\n')
    text.remove_suffix(1);
  if (!text.empty()) log(LogLevel::debug, "capture", text);
}

struct FormatRow {
  AVPixelFormat theirs;
  PixelFormat ours;
};
constexpr FormatRow format_table[] = {
    {AV_PIX_FMT_YUV420P, PixelFormat::i420}, {AV_PIX_FMT_YUVJ420P, PixelFormat::i420},
    {AV_PIX_FMT_NV12, PixelFormat::nv12},    {AV_PIX_FMT_GRAY8, PixelFormat::grey},
    {AV_PIX_FMT_NV16, PixelFormat::nv16},    {AV_PIX_FMT_NV21, PixelFormat::nv21},
    {AV_PIX_FMT_NV24, PixelFormat::nv24},    {AV_PIX_FMT_YUYV422, PixelFormat::yuyv},
    {AV_PIX_FMT_UYVY422, PixelFormat::uyvy}, {AV_PIX_FMT_YVYU422, PixelFormat::yvyu},
    {AV_PIX_FMT_RGB24, PixelFormat::rgb},    {AV_PIX_FMT_BGR24, PixelFormat::bgr},
    {AV_PIX_FMT_RGBA, PixelFormat::rgba},    {AV_PIX_FMT_BGRA, PixelFormat::bgra},
};

template <class Theirs, class Ours>
struct CodePair {
  Theirs theirs;
  Ours ours;
};
// If several FFmpeg values mean one Halyard value, the first is the one that is written.
constexpr CodePair<AVColorSpace, ColorEncoding> encodings[] = {
    {AVCOL_SPC_SMPTE170M, ColorEncoding::bt601},  {AVCOL_SPC_BT470BG, ColorEncoding::bt601},
    {AVCOL_SPC_BT709, ColorEncoding::bt709},      {AVCOL_SPC_BT2020_NCL, ColorEncoding::bt2020},
    {AVCOL_SPC_BT2020_CL, ColorEncoding::bt2020},
};
constexpr CodePair<AVColorPrimaries, ColorSpace> spaces[] = {
    {AVCOL_PRI_BT709, ColorSpace::bt709},         {AVCOL_PRI_BT709, ColorSpace::srgb},
    {AVCOL_PRI_SMPTE170M, ColorSpace::smpte170m}, {AVCOL_PRI_BT470BG, ColorSpace::smpte170m},
    {AVCOL_PRI_BT2020, ColorSpace::bt2020},
};
constexpr CodePair<AVColorTransferCharacteristic, ColorTransfer> transfers[] = {
    {AVCOL_TRC_BT709, ColorTransfer::bt709},       {AVCOL_TRC_SMPTE170M, ColorTransfer::bt709},
    {AVCOL_TRC_IEC61966_2_1, ColorTransfer::srgb}, {AVCOL_TRC_SMPTE2084, ColorTransfer::pq},
    {AVCOL_TRC_ARIB_STD_B67, ColorTransfer::hlg},  {AVCOL_TRC_LINEAR, ColorTransfer::linear},
};

template <class Table, class Theirs, class Ours>
void find_ours(const Table& table, Theirs theirs, Ours& ours) noexcept {
  for (const auto& row : table) {
    if (row.theirs == theirs) {
      ours = row.ours;
      return;
    }
  }
}

template <class Table, class Ours, class Theirs>
void find_theirs(const Table& table, Ours ours, Theirs& theirs) noexcept {
  for (const auto& row : table) {
    if (row.ours == ours) {
      theirs = row.theirs;
      return;
    }
  }
}

Colorimetry ours_of(AVColorSpace encoding, AVColorPrimaries space,
                    AVColorTransferCharacteristic transfer, AVColorRange range,
                    int format) noexcept {
  Colorimetry out;
  find_ours(encodings, encoding, out.encoding);
  find_ours(spaces, space, out.space);
  find_ours(transfers, transfer, out.transfer);
  const bool is_jpeg = format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_YUVJ422P ||
                       format == AV_PIX_FMT_YUVJ444P;
  if (range == AVCOL_RANGE_JPEG || is_jpeg) {
    out.range = ColorRange::full;
  } else if (range == AVCOL_RANGE_MPEG) {
    out.range = ColorRange::limited;
  }
  return out;
}

}  // namespace

void route_ffmpeg_log() {
  ffmpeg().av_log_set_callback(log_callback);
}

Error ffmpeg_error(const char* what, int code, const std::string& name, Errc otherwise) {
  // FFmpeg's own codes are large four-character tags; system errors are small.
  constexpr int largest_errno = 4095;
  if (code < 0 && AVUNERROR(code) <= largest_errno) return fail_os(what, AVUNERROR(code), name);
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  ffmpeg().av_strerror(code, text.data(), text.size());
  return fail(otherwise, what, "{}: {}", name, text.data());
}

std::optional<PixelFormat> pixel_format_of(int ffmpeg_format) noexcept {
  for (const FormatRow& row : format_table) {
    if (row.theirs == ffmpeg_format) return row.ours;
  }
  return std::nullopt;
}

std::string name_of_format(int ffmpeg_format) {
  const char* name = ffmpeg().av_get_pix_fmt_name(static_cast<AVPixelFormat>(ffmpeg_format));
  return name != nullptr ? name : "unknown";
}

Colorimetry colorimetry_of(const AVFrame& frame) noexcept {
  return ours_of(frame.colorspace, frame.color_primaries, frame.color_trc, frame.color_range,
                 frame.format);
}

Colorimetry colorimetry_of(const AVCodecParameters& stream) noexcept {
  return ours_of(stream.color_space, stream.color_primaries, stream.color_trc, stream.color_range,
                 stream.format);
}

void set_colorimetry(AVCodecContext& codec, const Colorimetry& colorimetry) noexcept {
  find_theirs(encodings, colorimetry.encoding, codec.colorspace);
  find_theirs(spaces, colorimetry.space, codec.color_primaries);
  find_theirs(transfers, colorimetry.transfer, codec.color_trc);
  if (colorimetry.range == ColorRange::full) codec.color_range = AVCOL_RANGE_JPEG;
  if (colorimetry.range == ColorRange::limited) codec.color_range = AVCOL_RANGE_MPEG;
}

}  // namespace halyard::capture

#endif
