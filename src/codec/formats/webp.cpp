// SPDX-License-Identifier: Apache-2.0
// WebP decoding with libwebp: its demuxer gives the header and the first frame of an animation; its
// incremental decoder gives the pixels, so that a caller can cancel between parts of the file.
#include "codec/formats/file_format.h"

#if HALYARD_HAVE_WEBP
#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <memory>

#include "base/text/format_error.h"
#include "codec/cancel.h"
#include "codec/exif.h"
#include "codec/limits.h"

namespace halyard::codec {
namespace {

constexpr std::size_t part_bytes = std::size_t{1} << 16;

struct DemuxerDeleter {
  void operator()(WebPDemuxer* demuxer) const noexcept { WebPDemuxDelete(demuxer); }
};
using Demuxer = std::unique_ptr<WebPDemuxer, DemuxerDeleter>;

struct IncrementalDeleter {
  void operator()(WebPIDecoder* decoder) const noexcept { WebPIDelete(decoder); }
};

const std::uint8_t* bytes_of(std::span<const std::byte> file) {
  return reinterpret_cast<const std::uint8_t*>(file.data());
}

Error webp_cut_short(std::size_t bytes) {
  return fail(Errc::corrupt, "the WebP data is damaged or ends early", "{} bytes", bytes);
}

/// Null if the container is incomplete.
Demuxer demux(std::span<const std::byte> file) {
  const WebPData data{bytes_of(file), file.size()};
  return Demuxer(WebPDemux(&data));
}

int orientation_of(WebPDemuxer* demuxer) {
  WebPChunkIterator chunk{};
  if (WebPDemuxGetChunk(demuxer, "EXIF", 1, &chunk) == 0) return 0;
  const std::span exif(reinterpret_cast<const std::byte*>(chunk.chunk.bytes), chunk.chunk.size);
  // Some writers keep the prefix that the block has in a JPEG.
  const int with_prefix = exif_orientation(exif);
  const int tag = with_prefix != 0 ? with_prefix : exif_orientation_of_tiff(exif);
  WebPDemuxReleaseChunkIterator(&chunk);
  return tag;
}

/// The bytes and the position of the first frame.
struct WebpFirstFrame {
  WebPIterator iterator{};
  bool is_there = false;

  explicit WebpFirstFrame(WebPDemuxer* demuxer)
      : is_there(WebPDemuxGetFrame(demuxer, 1, &iterator) != 0) {}
  WebpFirstFrame(const WebpFirstFrame&) = delete;
  WebpFirstFrame& operator=(const WebpFirstFrame&) = delete;
  ~WebpFirstFrame() {
    if (is_there) WebPDemuxReleaseIterator(&iterator);
  }
  bool covers(const ImageFileInfo& info) const {
    return iterator.x_offset == 0 && iterator.y_offset == 0 &&
           static_cast<std::size_t>(iterator.width) == info.width &&
           static_cast<std::size_t>(iterator.height) == info.height;
  }
};

Result<FormatHeader> parse_webp(std::span<const std::byte> file, const DecodeLimits& limits) {
  WebPBitstreamFeatures features{};
  if (WebPGetFeatures(bytes_of(file), file.size(), &features) != VP8_STATUS_OK ||
      features.width < 1 || features.height < 1) {
    return fail(Errc::corrupt, "WebP header is damaged or cut short", "{} bytes", file.size());
  }
  FormatHeader header;
  ImageFileInfo& info = header.info;
  info.type = ImageFileType::webp;
  info.width = static_cast<std::size_t>(features.width);
  info.height = static_cast<std::size_t>(features.height);
  HALYARD_RETURN_IF_ERROR(check_limits(info.width, info.height, limits));
  const Demuxer demuxer = demux(file);
  if (!demuxer) return webp_cut_short(file.size());
  const WebpFirstFrame frame(demuxer.get());
  if (!frame.is_there) return webp_cut_short(file.size());
  const bool has_alpha = features.has_alpha != 0 || !frame.covers(info);
  info.native_format = has_alpha ? PixelFormat::rgba : PixelFormat::rgb;
  info.components = has_alpha ? 4 : 3;
  info.exif_orientation = orientation_of(demuxer.get());
  info.colorimetry = srgb_colorimetry(info.native_format);
  // An image of four channels, used if the destination has another format, and the decoder's
  // memory.
  header.working_bytes = 8 * info.width * info.height;
  return header;
}

struct Pixels {
  std::byte* rows;
  std::size_t stride_bytes;
  std::size_t height;
  WEBP_CSP_MODE mode;
};

Status decode_frame(const WebPData& data, const Pixels& pixels) {
  WebPDecBuffer buffer{};
  if (WebPInitDecBuffer(&buffer) == 0)
    return fail(Errc::unsupported, "libwebp has an incompatible version");
  buffer.colorspace = pixels.mode;
  buffer.is_external_memory = 1;
  buffer.u.RGBA.rgba = reinterpret_cast<std::uint8_t*>(pixels.rows);
  buffer.u.RGBA.stride = static_cast<int>(pixels.stride_bytes);
  buffer.u.RGBA.size = pixels.stride_bytes * pixels.height;
  const std::unique_ptr<WebPIDecoder, IncrementalDeleter> decoder(WebPINewDecoder(&buffer));
  if (!decoder) return fail(Errc::no_memory, "memory for the WebP codec cannot be allocated");
  VP8StatusCode code = VP8_STATUS_SUSPENDED;
  for (std::size_t got = 0; code == VP8_STATUS_SUSPENDED && got < data.size;) {
    if (is_cancelled()) return cancelled_error();
    got = std::min(got + part_bytes, data.size);
    code = WebPIUpdate(decoder.get(), data.bytes, got);
  }
  if (code == VP8_STATUS_OK) return {};
  if (code == VP8_STATUS_OUT_OF_MEMORY)
    return fail(Errc::no_memory, "memory for the WebP codec cannot be allocated");
  return webp_cut_short(data.size);
}

std::optional<WEBP_CSP_MODE> mode_of(const RowSink& sink) {
  // The last row of the destination may lack the bytes after its end.
  if (!sink.is_u8()) return std::nullopt;
  if (sink.format() == PixelFormat::rgb) return MODE_RGB;
  if (sink.format() == PixelFormat::rgba) return MODE_RGBA;
  if (sink.format() == PixelFormat::bgra) return MODE_BGRA;
  return std::nullopt;
}

/// Decodes the first frame of an animation; the rest of the image is transparent.
Status decode_placed(const WebPIterator& frame, RowSink& sink) {
  const auto width = static_cast<std::size_t>(frame.width);
  const auto height = static_cast<std::size_t>(frame.height);
  std::vector<std::byte> image(width * height * 4);
  HALYARD_RETURN_IF_ERROR(
      decode_frame(frame.fragment, {image.data(), width * 4, height, MODE_RGBA}));
  const auto left = static_cast<std::size_t>(frame.x_offset);
  const auto top = static_cast<std::size_t>(frame.y_offset);
  if (left + width > sink.width() || top + height > sink.height())
    return fail(Errc::corrupt, "a frame of the WebP lies outside its image");
  std::vector<std::byte> row(sink.width() * 4);
  for (std::size_t y = 0; y < sink.height(); ++y) {
    std::fill(row.begin(), row.end(), std::byte{0});
    if (y >= top && y < top + height) {
      std::copy_n(image.begin() + static_cast<std::ptrdiff_t>((y - top) * width * 4), width * 4,
                  row.begin() + static_cast<std::ptrdiff_t>(left * 4));
    }
    sink.put(y, row.data(), 4, false);
  }
  return {};
}

Status decode_webp(std::span<const std::byte> file, const FormatHeader& header, RowSink& sink) {
  const Demuxer demuxer = demux(file);
  if (!demuxer) return webp_cut_short(file.size());
  const WebpFirstFrame frame(demuxer.get());
  if (!frame.is_there || frame.iterator.complete == 0) return webp_cut_short(file.size());
  const auto mode = mode_of(sink);
  if (!mode || !frame.covers(header.info)) return decode_placed(frame.iterator, sink);
  return decode_frame(frame.iterator.fragment,
                      {sink.rows(), sink.stride_bytes(), sink.height(), *mode});
}

}  // namespace

const Format webp_format{parse_webp, decode_webp};

}  // namespace halyard::codec

#else

namespace halyard::codec {

const Format webp_format{
    [](std::span<const std::byte>, const DecodeLimits&) -> Result<FormatHeader> {
      return missing_library("WebP", "libwebp", "libwebp-dev");
    },
    nullptr};

}  // namespace halyard::codec

#endif
