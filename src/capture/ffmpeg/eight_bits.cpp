// SPDX-License-Identifier: Apache-2.0
// Converts frames to 8 bits: one loop over samples, driven by FFmpeg's description of the place of
// each component of a pixel.
#include "capture/ffmpeg/eight_bits.h"

#ifdef HALYARD_HAVE_FFMPEG

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "base/text/format_error.h"

namespace halyard::capture {
namespace {

/// One component of a frame: its rows, and the table that converts its stored numbers to bytes.
struct Component {
  const std::uint8_t* first = nullptr;
  std::size_t stride = 0;
  std::size_t step = 0;               // bytes between samples of a row
  unsigned shift = 0;                 // lowest bit of the sample
  std::vector<std::uint8_t> byte_of;  // by sample value; empty: the samples are bytes
};

/// Destination of a component: every `step`-th byte of rows.
struct Target {
  std::byte* first = nullptr;
  std::size_t stride = 0;
  std::size_t step = 1;
  std::size_t columns = 0;
  std::size_t rows = 0;
};

// Full-range chroma is centred on half of the range; all other components begin at 0.
std::vector<std::uint8_t> table_of(unsigned depth, bool is_full, bool is_chroma) {
  const std::int64_t count = std::int64_t{1} << depth;
  std::vector<std::uint8_t> table(static_cast<std::size_t>(count));
  const std::int64_t zero = is_full && is_chroma ? count / 2 : 0;
  const std::int64_t zero_8 = zero > 0 ? 128 : 0;
  const std::int64_t from = is_full ? count - 1 : count / 256;
  const std::int64_t to = is_full ? 255 : 1;
  for (std::int64_t value = 0; value < count; ++value) {
    const std::int64_t scaled = 2 * (value - zero) * to + from;
    const std::int64_t divisor = 2 * from;
    const std::int64_t floored =
        scaled >= 0 ? scaled / divisor : -((-scaled + divisor - 1) / divisor);
    table[static_cast<std::size_t>(value)] =
        static_cast<std::uint8_t>(std::clamp<std::int64_t>(floored + zero_8, 0, 255));
  }
  return table;
}

void copy_component(const Component& from, const Target& to) {
  const std::size_t mask = from.byte_of.empty() ? 0 : from.byte_of.size() - 1;
  for (std::size_t y = 0; y < to.rows; ++y) {
    const std::uint8_t* sample = from.first + y * from.stride;
    std::byte* out = to.first + y * to.stride;
    for (std::size_t x = 0; x < to.columns; ++x, sample += from.step, out += to.step) {
      if (mask == 0) {
        *out = static_cast<std::byte>(*sample);
        continue;
      }
      std::uint16_t stored = 0;
      std::memcpy(&stored, sample, sizeof stored);
      *out = static_cast<std::byte>(from.byte_of[(stored >> from.shift) & mask]);
    }
  }
}

bool is_rgb(const AVPixFmtDescriptor& description) {
  return (description.flags & AV_PIX_FMT_FLAG_RGB) != 0;
}

Component component_of(const AVFrame& frame, const AVPixFmtDescriptor& description, int index,
                       bool is_full) {
  const AVComponentDescriptor& c = description.comp[index];
  Component out;
  out.stride = static_cast<std::size_t>(frame.linesize[c.plane]);
  out.step = static_cast<std::size_t>(c.step);
  out.first = frame.data[c.plane] + c.offset;
  out.shift = static_cast<unsigned>(c.shift);
  const bool is_chroma = !is_rgb(description) && (index == 1 || index == 2);
  if (c.depth > 8)
    out.byte_of =
        table_of(static_cast<unsigned>(c.depth), is_full || is_rgb(description), is_chroma);
  return out;
}

// i420 has one plane for each component, nv16 and nv24 have two, rgb and rgba have a single one.
Target target_of(const TensorMap& map, PixelFormat format, std::size_t index) {
  const FormatInfo& row = info(format);
  const std::size_t plane = std::min(index, std::size_t{row.planes} - 1);
  const MappedPlane& mapped = map.plane(plane);
  const bool is_pair = row.kind == FormatKind::semi_planar && plane == 1;
  Target out;
  out.step = is_pair ? 2 : row.channels;
  out.first = mapped.writable + (is_pair ? index - 1 : row.planes == 1 ? index : 0);
  out.stride = mapped.stride_bytes;
  out.rows = mapped.rows;
  out.columns = mapped.row_bytes / out.step;
  return out;
}

bool is_simple(const AVPixFmtDescriptor& description) {
  constexpr std::uint64_t others = AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM |
                                   AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT |
                                   AV_PIX_FMT_FLAG_BAYER;
  if ((description.flags & others) != 0 || description.nb_components < 1) return false;
  for (int i = 0; i < description.nb_components; ++i) {
    const AVComponentDescriptor& c = description.comp[i];
    const bool is_wide = c.depth > 8;
    if (c.depth < 8 || c.depth > 16 || (!is_wide && c.shift != 0)) return false;
    if (is_wide && (description.flags & AV_PIX_FMT_FLAG_BE) != 0) return false;
  }
  return std::endian::native == std::endian::little;
}

}  // namespace

std::optional<PixelFormat> eight_bit_format(int ffmpeg_format) noexcept {
  const auto* const description =
      ffmpeg().av_pix_fmt_desc_get(static_cast<AVPixelFormat>(ffmpeg_format));
  if (description == nullptr || !is_simple(*description)) return std::nullopt;
  const bool has_alpha = (description->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
  if (is_rgb(*description)) return has_alpha ? PixelFormat::rgba : PixelFormat::rgb;
  if (description->nb_components < 3) return PixelFormat::grey;
  const int x = description->log2_chroma_w;
  const int y = description->log2_chroma_h;
  if (x == 1 && y == 1) return PixelFormat::i420;
  if (x == 1 && y == 0) return PixelFormat::nv16;
  if (x == 0 && y == 0) return PixelFormat::nv24;
  return std::nullopt;
}

Result<Tensor> to_eight_bits(const AVFrame& frame, const std::string& name) {
  const auto& description = *ffmpeg().av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  const PixelFormat format = *eight_bit_format(frame.format);
  HALYARD_TRY(Tensor image, Tensor::create_image(static_cast<std::size_t>(frame.width),
                                                 static_cast<std::size_t>(frame.height), format,
                                                 DType::u8, Memory::mem));
  image.set_colorimetry(colorimetry_of(frame));
  const bool is_full = image.colorimetry().range == ColorRange::full;
  HALYARD_TRY(const TensorMap map, image.map(Access::write));
  const FormatInfo& row = info(format);
  const std::size_t count = row.model == ColorModel::yuv ? 3 : std::size_t{row.channels};
  for (std::size_t i = 0; i < count; ++i) {
    const int index = static_cast<int>(i);
    if (frame.linesize[description.comp[index].plane] <= 0)
      return fail(Errc::unsupported, "video: rows must be stored from top to bottom", "{}", name);
    copy_component(component_of(frame, description, index, is_full), target_of(map, format, i));
  }
  return image;
}

}  // namespace halyard::capture

#endif
