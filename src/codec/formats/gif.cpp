// SPDX-License-Identifier: Apache-2.0
// GIF decoding with giflib: the first frame, row by row, so that no file expands to more than the
// image that its header declares.
#include "codec/formats/file_format.h"

#if HALYARD_HAVE_GIF
#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "base/text/format_error.h"
#include "codec/cancel.h"
#include "codec/limits.h"

namespace halyard::codec {
namespace {

struct GifReader {
  std::span<const std::byte> rest;
};

int read(GifFileType* gif, GifByteType* to, int count) {
  auto& reader = *static_cast<GifReader*>(gif->UserData);
  const std::size_t got = std::min(static_cast<std::size_t>(count), reader.rest.size());
  if (got != 0) std::memcpy(to, reader.rest.data(), got);
  reader.rest = reader.rest.subspan(got);
  return static_cast<int>(got);
}

struct GifDeleter {
  void operator()(GifFileType* gif) const noexcept { DGifCloseFile(gif, nullptr); }
};
using Gif = std::unique_ptr<GifFileType, GifDeleter>;

Error damaged(int code) {
  if (code == D_GIF_ERR_NOT_ENOUGH_MEM)
    return fail(Errc::no_memory, "memory for the GIF codec cannot be allocated");
  const char* text = GifErrorString(code);
  return fail(Errc::corrupt, "the GIF data is damaged or ends early", "{}",
              text != nullptr ? text : "no frame");
}

/// Opens the file and moves to the pixels of its first frame.
struct GifFirstFrame {
  GifReader reader;
  Gif gif;
  int transparent = NO_TRANSPARENT_COLOR;
  bool is_whole = false;  ///< the frame covers the image

  const GifImageDesc& place() const { return gif->Image; }
};

/// Reads the transparent index from a graphics control block.
Status read_extensions(GifFirstFrame& frame) {
  int code = 0;
  GifByteType* block = nullptr;
  if (DGifGetExtension(frame.gif.get(), &code, &block) == GIF_ERROR)
    return damaged(frame.gif->Error);
  if (code == GRAPHICS_EXT_FUNC_CODE && block != nullptr && block[0] >= 4)
    frame.transparent = (block[1] & 1) != 0 ? block[4] : NO_TRANSPARENT_COLOR;
  while (block != nullptr) {
    if (DGifGetExtensionNext(frame.gif.get(), &block) == GIF_ERROR)
      return damaged(frame.gif->Error);
  }
  return {};
}

Status open_gif(std::span<const std::byte> file, const DecodeLimits* limits, GifFirstFrame& frame) {
  frame.reader.rest = file;
  int code = 0;
  frame.gif.reset(DGifOpen(&frame.reader, read, &code));
  if (!frame.gif) return damaged(code);
  GifFileType& gif = *frame.gif;
  if (gif.SWidth < 1 || gif.SHeight < 1)
    return fail(Errc::corrupt, "GIF header declares an empty image", "{} x {}", gif.SWidth,
                gif.SHeight);
  if (limits != nullptr) {
    HALYARD_RETURN_IF_ERROR(check_limits(static_cast<std::size_t>(gif.SWidth),
                                         static_cast<std::size_t>(gif.SHeight), *limits));
  }
  GifRecordType type = UNDEFINED_RECORD_TYPE;
  while (type != IMAGE_DESC_RECORD_TYPE) {
    if (DGifGetRecordType(&gif, &type) == GIF_ERROR) return damaged(gif.Error);
    if (type == EXTENSION_RECORD_TYPE) HALYARD_RETURN_IF_ERROR(read_extensions(frame));
    if (type == TERMINATE_RECORD_TYPE) return damaged(0);
  }
  if (DGifGetImageDesc(&gif) == GIF_ERROR) return damaged(gif.Error);
  const GifImageDesc& place = gif.Image;
  if (place.Left < 0 || place.Top < 0 || place.Width < 1 || place.Height < 1 ||
      place.Left + place.Width > gif.SWidth || place.Top + place.Height > gif.SHeight) {
    return fail(Errc::corrupt, "a frame of the GIF lies outside its image", "{} x {} at {}, {}",
                place.Width, place.Height, place.Left, place.Top);
  }
  if (place.ColorMap == nullptr && gif.SColorMap == nullptr)
    return fail(Errc::corrupt, "GIF has no palette");
  frame.is_whole = place.Width == gif.SWidth && place.Height == gif.SHeight;
  return {};
}

Result<FormatHeader> parse_gif(std::span<const std::byte> file, const DecodeLimits& limits) {
  GifFirstFrame frame;
  HALYARD_RETURN_IF_ERROR(open_gif(file, &limits, frame));
  FormatHeader header;
  ImageFileInfo& info = header.info;
  info.type = ImageFileType::gif;
  info.width = static_cast<std::size_t>(frame.gif->SWidth);
  info.height = static_cast<std::size_t>(frame.gif->SHeight);
  const bool has_alpha = frame.transparent != NO_TRANSPARENT_COLOR || !frame.is_whole;
  info.native_format = has_alpha ? PixelFormat::rgba : PixelFormat::rgb;
  info.components = has_alpha ? 4 : 3;
  info.palette = true;
  info.progressive = frame.place().Interlace;
  info.colorimetry = srgb_colorimetry(info.native_format);
  return header;
}

/// r, g, b, alpha of each index of the palette. Missing indices have alpha 1, which no colour has.
using Palette = std::array<std::array<std::uint8_t, 4>, 256>;
constexpr std::uint8_t unknown_alpha = 1;

Palette palette_of(const GifFirstFrame& frame) {
  const ColorMapObject* map =
      frame.place().ColorMap != nullptr ? frame.place().ColorMap : frame.gif->SColorMap;
  Palette palette;
  palette.fill({0, 0, 0, unknown_alpha});
  for (int i = 0; i < std::min(map->ColorCount, 256); ++i) {
    const GifColorType& color = map->Colors[i];
    palette[static_cast<std::size_t>(i)] = {color.Red, color.Green, color.Blue, 255};
  }
  if (frame.transparent >= 0 && frame.transparent < 256)
    palette[static_cast<std::size_t>(frame.transparent)][3] = 0;
  return palette;
}

/// Whether all indices are in the palette.
bool color_row(std::span<const GifPixelType> indices, const Palette& palette, std::byte* out) {
  bool is_known = true;
  for (const GifPixelType index : indices) {
    is_known = is_known && palette[index][3] != unknown_alpha;
    std::memcpy(out, palette[index].data(), 4);
    out += 4;
  }
  return is_known;
}

/// The row of the frame that is stored as row `line` of the file.
std::size_t row_of(std::size_t line, std::size_t height, bool is_interlaced) {
  if (!is_interlaced) return line;
  constexpr std::array<std::size_t, 4> starts = {0, 4, 2, 1}, steps = {8, 8, 4, 2};
  for (std::size_t pass = 0; pass < starts.size(); ++pass) {
    const std::size_t rows =
        height > starts[pass] ? (height - starts[pass] + steps[pass] - 1) / steps[pass] : 0;
    if (line < rows) return starts[pass] + line * steps[pass];
    line -= rows;
  }
  return height - 1;
}

Status decode_gif(std::span<const std::byte> file, const FormatHeader&, RowSink& sink) {
  GifFirstFrame frame;
  HALYARD_RETURN_IF_ERROR(open_gif(file, nullptr, frame));
  const GifImageDesc& place = frame.place();
  const auto left = static_cast<std::size_t>(place.Left), top = static_cast<std::size_t>(place.Top);
  const auto height = static_cast<std::size_t>(place.Height);
  const Palette palette = palette_of(frame);
  std::vector<GifPixelType> indices(static_cast<std::size_t>(place.Width));
  std::vector<std::byte> row(sink.width() * 4);
  for (std::size_t y = 0; y < sink.height(); ++y)
    if (y < top || y >= top + height) sink.put(y, row.data(), 4, false);
  for (std::size_t line = 0; line < height; ++line) {
    if (is_cancelled()) return cancelled_error();
    if (DGifGetLine(frame.gif.get(), indices.data(), place.Width) == GIF_ERROR)
      return damaged(frame.gif->Error);
    if (!color_row(indices, palette, row.data() + left * 4))
      return fail(Errc::corrupt, "GIF uses a colour that its palette does not have");
    sink.put(top + row_of(line, height, place.Interlace), row.data(), 4, false);
  }
  return {};
}

}  // namespace

const Format gif_format{parse_gif, decode_gif};

}  // namespace halyard::codec

#else

namespace halyard::codec {

const Format gif_format{
    [](std::span<const std::byte>, const DecodeLimits&) -> Result<FormatHeader> {
      return missing_library("GIF", "giflib", "libgif-dev");
    },
    nullptr};

}  // namespace halyard::codec

#endif
