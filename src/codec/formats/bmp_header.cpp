// SPDX-License-Identifier: Apache-2.0
// Reads BITMAPFILEHEADER and the BITMAPINFOHEADERs (Windows Metafile Format, MS-WMF 2.2.2).
#include "codec/formats/bmp_header.h"

#include <algorithm>

#include "base/text/format_error.h"
#include "codec/limits.h"

namespace halyard::codec {
namespace {

constexpr std::uint32_t core_bytes = 12;  // the header of OS/2 and Windows 2

/// The fields of a header before they are checked.
struct Fields {
  std::uint32_t bytes = 0;  ///< size of this header
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::uint32_t planes = 0;
  std::uint32_t bits = 0;
  std::uint32_t compression = 0;
  std::uint32_t colors = 0;
};

Error bmp_cut_short(std::size_t bytes) {
  return fail(Errc::corrupt, "BMP header is cut short", "{} bytes", bytes);
}

Result<Fields> read_fields(std::span<const std::byte> file) {
  Fields out;
  if (file.size() < bmp_file_header_bytes + 4) return bmp_cut_short(file.size());
  out.bytes = le32(file, bmp_file_header_bytes);
  const std::size_t at = bmp_file_header_bytes + 4;
  if (out.bytes == core_bytes) {
    if (file.size() < bmp_file_header_bytes + core_bytes) return bmp_cut_short(file.size());
    out.width = le16(file, at);
    out.height = le16(file, at + 2);
    out.planes = le16(file, at + 4);
    out.bits = le16(file, at + 6);
    return out;
  }
  if (out.bytes < bmp_info_bytes)
    return fail(Errc::unsupported, "BMP header is of an unsupported kind", "{} bytes", out.bytes);
  if (file.size() < bmp_file_header_bytes + out.bytes) return bmp_cut_short(file.size());
  out.width = static_cast<std::int32_t>(le32(file, at));
  out.height = static_cast<std::int32_t>(le32(file, at + 4));
  out.planes = le16(file, at + 8);
  out.bits = le16(file, at + 10);
  out.compression = le32(file, at + 12);
  out.colors = le32(file, at + 28);
  return out;
}

Status check_fields(const Fields& fields) {
  if (fields.width < 1 || fields.height == 0)
    return fail(Errc::corrupt, "BMP header declares an empty image", "{} x {}", fields.width,
                fields.height);
  constexpr std::array<std::uint32_t, 6> depths = {1, 4, 8, 16, 24, 32};
  if (fields.planes != 1 || std::find(depths.begin(), depths.end(), fields.bits) == depths.end())
    return fail(Errc::unsupported, "BMP must have 1, 4, 8, 16, 24 or 32 bits a pixel, in one plane",
                "{} bits, {} planes", fields.bits, fields.planes);
  const bool is_wide = fields.bits == 16 || fields.bits == 32;
  const bool fits = fields.compression == 0 || (fields.compression == 1 && fields.bits == 8) ||
                    (fields.compression == 2 && fields.bits == 4) ||
                    ((fields.compression == 3 || fields.compression == 6) && is_wide);
  if (!fits)
    return fail(Errc::unsupported, "BMP must be uncompressed, RLE4, RLE8 or have masks",
                "compression {} with {} bits", fields.compression, fields.bits);
  if (fields.height < 0 && (fields.compression == 1 || fields.compression == 2))
    return fail(Errc::corrupt, "BMP with RLE must be stored from the bottom up");
  return {};
}

/// Reads the masks, which follow the header or are in it; moves `at` past masks that follow it.
Status read_masks(std::span<const std::byte> file, const Fields& fields, std::size_t& at,
                  BmpHeader& out) {
  if (fields.bits != 16 && fields.bits != 32) return {};
  if (fields.compression == 0) {
    out.masks = fields.bits == 16 ? std::array<std::uint32_t, 4>{0x7C00, 0x3E0, 0x1F, 0}
                                  : std::array<std::uint32_t, 4>{0xFF0000, 0xFF00, 0xFF, 0};
    return {};
  }
  out.packing = BmpPacking::masks;
  const bool follow = fields.bytes < 52;
  const std::size_t count = fields.bytes >= 56 || fields.compression == 6 ? 4 : 3;
  const std::size_t from = bmp_file_header_bytes + bmp_info_bytes;
  if (file.size() < from + 4 * count) return bmp_cut_short(file.size());
  if (follow) at += 4 * count;
  for (std::size_t i = 0; i < count; ++i)
    out.masks[i] = le32(file, from + 4 * i);
  std::uint32_t seen = 0;
  for (const std::uint32_t mask : out.masks) {
    const std::uint32_t ones = mask == 0 ? 0 : mask >> __builtin_ctz(mask);
    const bool is_run = (ones & (ones + 1)) == 0;
    if (!is_run || (seen & mask) != 0 || (fields.bits == 16 && mask > 0xFFFF))
      return fail(Errc::corrupt, "BMP masks must be runs of bits that do not overlap",
                  "{:#x}, {:#x}, {:#x}, {:#x}", out.masks[0], out.masks[1], out.masks[2],
                  out.masks[3]);
    seen |= mask;
  }
  return {};
}

Status read_bmp_palette(std::span<const std::byte> file, const Fields& fields, std::size_t at,
                        BmpHeader& out) {
  if (fields.bits > 8) return {};
  const std::uint32_t all = 1U << fields.bits;
  const std::size_t count = fields.colors == 0 ? all : std::min(fields.colors, all);
  const std::size_t entry = fields.bytes == core_bytes ? 3 : 4;
  if (at > file.size() || file.size() - at < count * entry) return bmp_cut_short(file.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto byte = [&](std::size_t k) {
      return std::to_integer<std::uint8_t>(file[at + i * entry + k]);
    };
    out.palette.push_back({byte(2), byte(1), byte(0), 255});
  }
  return {};
}

}  // namespace

bool BmpHeader::is_grey() const {
  return !palette.empty() && std::all_of(palette.begin(), palette.end(), [](const auto& color) {
    return color[0] == color[1] && color[1] == color[2];
  });
}

Result<BmpHeader> parse_bmp_header(std::span<const std::byte> file, const DecodeLimits& limits) {
  HALYARD_TRY(const Fields fields, read_fields(file));
  HALYARD_RETURN_IF_ERROR(check_fields(fields));
  BmpHeader out;
  out.width = static_cast<std::size_t>(fields.width);
  out.height = static_cast<std::size_t>(fields.height < 0 ? -fields.height : fields.height);
  HALYARD_RETURN_IF_ERROR(check_limits(out.width, out.height, limits));
  out.is_top_down = fields.height < 0;
  out.bits = fields.bits;
  if (fields.compression == 1) out.packing = BmpPacking::rle8;
  if (fields.compression == 2) out.packing = BmpPacking::rle4;
  std::size_t at = bmp_file_header_bytes + fields.bytes;
  HALYARD_RETURN_IF_ERROR(read_masks(file, fields, at, out));
  HALYARD_RETURN_IF_ERROR(read_bmp_palette(file, fields, at, out));
  out.data_at = le32(file, 10);
  if (out.data_at < at || out.data_at > file.size())
    return fail(Errc::corrupt, "BMP header places the pixels in itself or outside the file",
                "at {} of {} bytes", out.data_at, file.size());
  return out;
}

}  // namespace halyard::codec
