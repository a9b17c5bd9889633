// SPDX-License-Identifier: Apache-2.0
// TIFF decoding with libtiff: the first image of a file, a strip or a row of tiles at a time, with
// samples as they are stored. Formats that need libtiff's own conversion to RGB, which
// premultiplies, are not supported.
#include "codec/formats/file_format.h"

#if HALYARD_HAVE_TIFF
#include <algorithm>
#include <array>

#include "base/checked.h"
#include "base/text/format_error.h"
#include "codec/cancel.h"
#include "codec/formats/tiff_file.h"
#include "codec/formats/tiff_rows.h"
#include "codec/limits.h"

namespace halyard::codec {
namespace {

constexpr std::size_t spare_bytes = std::size_t{64} << 20;  // memory of libtiff's tables
constexpr std::size_t max_tile_pixels = std::size_t{1} << 24;

template <class T>
T field(TIFF* tiff, std::uint32_t tag, T usual) {
  T value = usual;
  return TIFFGetFieldDefaulted(tiff, tag, &value) == 1 ? value : usual;
}

/// The fields of the directory.
struct Directory {
  std::uint32_t width = 0, height = 0;
  std::uint32_t band_rows = 0;   ///< rows of a strip or tile
  std::uint32_t tile_width = 0;  ///< 0: strips
  std::size_t planes = 1;        ///< separate planes of samples
  TiffLayout layout;
};

Error refused(const char* what, unsigned value) {
  return fail(Errc::unsupported, what, "{}", value);
}

Result<TiffColor> color_of(TIFF* tiff) {
  const auto photometric = field<std::uint16_t>(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  const auto compression = field<std::uint16_t>(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  switch (photometric) {
    case PHOTOMETRIC_MINISBLACK:
      return TiffColor::grey;
    case PHOTOMETRIC_MINISWHITE:
      return TiffColor::inverted_grey;
    case PHOTOMETRIC_PALETTE:
      return TiffColor::palette;
    case PHOTOMETRIC_RGB:
      return TiffColor::rgb;
    case PHOTOMETRIC_YCBCR:
      if (compression != COMPRESSION_JPEG)
        return refused("YCbCr in a TIFF is read from JPEG compression only; compression",
                       compression);
      // libjpeg converts to RGB.
      TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
      return TiffColor::rgb;
    case PHOTOMETRIC_SEPARATED:
      return fail(Errc::unsupported, "CMYK images are not supported: convert to RGB first",
                  "a TIFF");
    default:
      return refused("TIFF must be grey, palette or RGB; photometric interpretation", photometric);
  }
}

TiffAlpha alpha_of(TIFF* tiff, std::uint16_t samples) {
  std::uint16_t count = 0;
  std::uint16_t* kinds = nullptr;
  if (samples < 4 || TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) != 1 || count == 0)
    return TiffAlpha::none;
  if (kinds[0] == EXTRASAMPLE_UNASSALPHA) return TiffAlpha::straight;
  return kinds[0] == EXTRASAMPLE_ASSOCALPHA ? TiffAlpha::premultiplied : TiffAlpha::none;
}

Status read_tiff_palette(TIFF* tiff, TiffLayout& layout) {
  std::array<std::uint16_t*, 3> map{};
  if (TIFFGetField(tiff, TIFFTAG_COLORMAP, &map[0], &map[1], &map[2]) != 1)
    return fail(Errc::corrupt, "TIFF has no palette");
  const std::size_t count = std::size_t{1} << layout.bits;
  const bool is_wide = std::any_of(map.begin(), map.end(), [&](const std::uint16_t* values) {
    return std::any_of(values, values + count, [](std::uint16_t v) { return v > 255; });
  });
  layout.palette.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      layout.palette[i][c] = static_cast<std::uint8_t>(is_wide ? map[c][i] >> 8 : map[c][i]);
  return {};
}

Status read_layout(TIFF* tiff, TiffLayout& layout) {
  HALYARD_TRY(layout.color, color_of(tiff));
  const auto bits = field<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE, 1);
  const auto format = field<std::uint16_t>(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  const auto samples = field<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  const bool is_color = layout.color == TiffColor::rgb;
  if (format != SAMPLEFORMAT_UINT && format != SAMPLEFORMAT_VOID)
    return refused("TIFF must hold unsigned integers; sample format", format);
  const bool fits = bits == 8 || (bits == 16 && layout.color != TiffColor::palette) ||
                    (!is_color && (bits == 1 || bits == 2 || bits == 4));
  if (!fits)
    return refused("TIFF must have 1, 2, 4, 8 or 16 bits a sample, RGB 8 or 16; bits", bits);
  if (samples < (is_color ? 3 : 1) || samples > 64)
    return fail(Errc::corrupt,
                "TIFF samples per pixel must be enough for its colour and at most 64", "{}",
                samples);
  if (samples != 1 && bits < 8)
    return refused("TIFF of less than 8 bits must have one sample; samples", samples);
  layout.bits = bits;
  layout.samples = samples;
  layout.alpha = is_color ? alpha_of(tiff, samples) : TiffAlpha::none;
  return layout.color == TiffColor::palette ? read_tiff_palette(tiff, layout) : Status();
}

Status read_bands(TIFF* tiff, Directory& out) {
  if (field<std::uint16_t>(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) ==
      PLANARCONFIG_SEPARATE) {
    out.planes = out.layout.samples;
    out.layout.is_separate = out.planes > 1;
  }
  if (TIFFIsTiled(tiff) != 0) {
    out.tile_width = field<std::uint32_t>(tiff, TIFFTAG_TILEWIDTH, 0);
    out.band_rows = field<std::uint32_t>(tiff, TIFFTAG_TILELENGTH, 0);
    const auto pixels = checked_mul(std::size_t{out.tile_width}, std::size_t{out.band_rows});
    if (!pixels || *pixels == 0 || *pixels > max_tile_pixels)
      return fail(Errc::invalid_argument, "tiles of a TIFF must have 1 to 2^24 pixels", "{} x {}",
                  out.tile_width, out.band_rows);
    return {};
  }
  out.band_rows = std::clamp(field<std::uint32_t>(tiff, TIFFTAG_ROWSPERSTRIP, out.height),
                             std::uint32_t{1}, out.height);
  return {};
}

Result<Directory> read_directory(const TiffFile& file, const DecodeLimits& limits) {
  TIFF* tiff = file.get();
  if (tiff == nullptr) return file.error();
  Directory out;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &out.width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &out.height);
  if (out.width == 0 || out.height == 0)
    return fail(Errc::corrupt, "TIFF header declares an empty image", "{} x {}", out.width,
                out.height);
  HALYARD_RETURN_IF_ERROR(check_limits(out.width, out.height, limits));
  HALYARD_RETURN_IF_ERROR(read_layout(tiff, out.layout));
  HALYARD_RETURN_IF_ERROR(read_bands(tiff, out));
  return out;
}

/// Bytes of a row of one plane: of the image, or of a tile.
std::size_t row_bytes(const Directory& directory, std::size_t width) {
  const std::size_t samples = directory.layout.is_separate ? 1 : directory.layout.samples;
  return (width * samples * directory.layout.bits + 7) / 8;
}

std::size_t band_bytes(const Directory& directory) {
  return row_bytes(directory, directory.width) * directory.band_rows * directory.planes;
}

Result<FormatHeader> parse_tiff(std::span<const std::byte> bytes, const DecodeLimits& limits) {
  const TiffFile file(bytes, bytes.size() * 8 + spare_bytes);
  HALYARD_TRY(const Directory directory, read_directory(file, limits));
  const TiffLayout& layout = directory.layout;
  FormatHeader header;
  ImageFileInfo& info = header.info;
  info.type = ImageFileType::tiff;
  info.width = directory.width;
  info.height = directory.height;
  info.bit_depth = static_cast<int>(layout.bits);
  info.components = static_cast<int>(layout.channels());
  info.palette = layout.color == TiffColor::palette;
  info.native_format = layout.channels() == 1   ? PixelFormat::grey
                       : layout.channels() == 3 ? PixelFormat::rgb
                                                : PixelFormat::rgba;
  std::uint16_t tag = 0;  // unchanged if the file has no orientation
  TIFFGetField(file.get(), TIFFTAG_ORIENTATION, &tag);
  info.exif_orientation = tag >= 1 && tag <= 8 ? tag : 0;
  info.colorimetry = srgb_colorimetry(info.native_format);
  const std::size_t tile = std::size_t{directory.tile_width} * directory.band_rows;
  header.working_bytes = band_bytes(directory) + 2 * tile * layout.samples;
  return header;
}

/// Reads strips or tiles, one band of rows after the other.
class BandReader {
 public:
  BandReader(const TiffFile& file, const Directory& directory)
      : file_(file),
        directory_(directory),
        stride_(row_bytes(directory, directory.width)),
        band_(band_bytes(directory)),
        tile_(directory.tile_width == 0
                  ? 0
                  : row_bytes(directory, directory.tile_width) * directory.band_rows) {}

  /// Reads the rows from `top` on, of all planes.
  Status read(std::uint32_t top) {
    rows_ = std::min(directory_.band_rows, directory_.height - top);
    for (std::size_t plane = 0; plane < directory_.planes; ++plane) {
      HALYARD_RETURN_IF_ERROR(directory_.tile_width == 0 ? read_strip(top, plane)
                                                         : read_tiles(top, plane));
    }
    return {};
  }
  std::uint32_t rows() const { return rows_; }
  const std::byte* row(std::uint32_t y, std::size_t plane) const {
    return band_.data() + (plane * directory_.band_rows + y) * stride_;
  }

 private:
  std::byte* plane_at(std::size_t plane) {
    return band_.data() + plane * directory_.band_rows * stride_;
  }
  Status read_strip(std::uint32_t top, std::size_t plane) {
    const auto sample = static_cast<std::uint16_t>(plane);
    const std::uint32_t strip = TIFFComputeStrip(file_.get(), top, sample);
    const std::size_t bytes = stride_ * rows_;
    const auto got =
        TIFFReadEncodedStrip(file_.get(), strip, plane_at(plane), static_cast<tmsize_t>(bytes));
    return got < 0 || static_cast<std::size_t>(got) != bytes ? Status(file_.error()) : Status();
  }
  Status read_tiles(std::uint32_t top, std::size_t plane) {
    const std::size_t tile_stride = row_bytes(directory_, directory_.tile_width);
    for (std::uint32_t left = 0; left < directory_.width; left += directory_.tile_width) {
      const auto tile =
          TIFFComputeTile(file_.get(), left, top, 0, static_cast<std::uint16_t>(plane));
      const auto got =
          TIFFReadEncodedTile(file_.get(), tile, tile_.data(), static_cast<tmsize_t>(tile_.size()));
      if (got < 0 || static_cast<std::size_t>(got) != tile_.size()) return file_.error();
      // The width of a tile is a multiple of 16, so each tile begins at a whole byte.
      const std::size_t from = row_bytes(directory_, left);
      const std::size_t count = std::min(tile_stride, stride_ - from);
      for (std::uint32_t y = 0; y < rows_; ++y)
        std::copy_n(tile_.data() + y * tile_stride, count, plane_at(plane) + y * stride_ + from);
      if (directory_.width - left <= directory_.tile_width) break;
    }
    return {};
  }

  const TiffFile& file_;
  const Directory& directory_;
  std::size_t stride_;
  std::vector<std::byte> band_;
  std::vector<std::byte> tile_;
  std::uint32_t rows_ = 0;
};

/// Checks that libtiff's length of a row equals the length that this reader assumes.
Status check_rows(const TiffFile& file, const Directory& directory) {
  const bool is_tiled = directory.tile_width != 0;
  const auto its = static_cast<std::size_t>(is_tiled ? TIFFTileRowSize(file.get())
                                                     : TIFFScanlineSize(file.get()));
  const std::size_t ours = row_bytes(directory, is_tiled ? directory.tile_width : directory.width);
  if (its == ours && (!is_tiled || directory.tile_width % 8 == 0)) return {};
  return fail(Errc::unsupported, "TIFF rows differ in length from their samples",
              "{} bytes, must be {}", its, ours);
}

Status decode_tiff(std::span<const std::byte> bytes, const FormatHeader& header, RowSink& sink) {
  const TiffFile file(bytes, 2 * header.working_bytes + bytes.size() * 8 + spare_bytes);
  HALYARD_TRY(const Directory directory,
              read_directory(file, DecodeLimits{SIZE_MAX, SIZE_MAX, SIZE_MAX}));
  HALYARD_RETURN_IF_ERROR(check_rows(file, directory));
  BandReader band(file, directory);
  TiffRows rows(directory.layout, directory.width);
  std::vector<const std::byte*> planes(directory.planes);
  for (std::uint32_t top = 0; top < directory.height; top += band.rows()) {
    if (is_cancelled()) return cancelled_error();
    HALYARD_RETURN_IF_ERROR(band.read(top));
    for (std::uint32_t y = 0; y < band.rows(); ++y) {
      for (std::size_t plane = 0; plane < planes.size(); ++plane)
        planes[plane] = band.row(y, plane);
      sink.put(top + y, rows.read(planes), directory.layout.channels(),
               directory.layout.bits == 16);
    }
  }
  return {};
}

}  // namespace

const Format tiff_format{parse_tiff, decode_tiff};

}  // namespace halyard::codec

#else

namespace halyard::codec {

const Format tiff_format{
    [](std::span<const std::byte>, const DecodeLimits&) -> Result<FormatHeader> {
      return missing_library("TIFF", "libtiff", "libtiff-dev");
    },
    nullptr};

}  // namespace halyard::codec

#endif
