// SPDX-License-Identifier: Apache-2.0
// Reads JPEG markers (ITU-T T.81 annex B) up to the first start of scan.
#include "codec/jpeg/jpeg_header.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/text/format_error.h"
#include "codec/limits.h"

namespace halyard::codec {
namespace {

enum Marker : unsigned {
  sof0 = 0xC0,
  dht = 0xC4,
  jpg = 0xC8,
  dac = 0xCC,
  sof15 = 0xCF,
  rst0 = 0xD0,
  rst7 = 0xD7,
  soi = 0xD8,
  eoi = 0xD9,
  sos = 0xDA,
  dhp = 0xDE,
  app0 = 0xE0,
  app1 = 0xE1,
  app14 = 0xEE,
  tem = 0x01,
};

unsigned byte_at(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<unsigned>(bytes[at]);
}
unsigned short_at(std::span<const std::byte> bytes, std::size_t at) {
  return byte_at(bytes, at) << 8 | byte_at(bytes, at + 1);
}
bool starts_with(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

// What the JFIF and Adobe conventions use to tell the colour space.
struct Hints {
  bool jfif = false;
  std::optional<unsigned> adobe_transform;
};

bool components_are_rgb(const JpegHeader& header, const Hints& hints) {
  if (hints.jfif) return false;
  if (hints.adobe_transform) return *hints.adobe_transform == 0;
  const auto& c = header.components;
  return c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B';
}

Status check_process(unsigned marker) {
  const unsigned type = marker - sof0;
  if (type <= 2) return {};
  if (type == 3 || type == 11) {
    return fail(Errc::unsupported, "lossless JPEG is not supported", "SOF{}", type);
  }
  if (type == 9 || type == 10) {
    return fail(Errc::unsupported, "arithmetic-coded JPEG is not supported", "SOF{}", type);
  }
  return fail(Errc::unsupported, "hierarchical JPEG is not supported", "SOF{}", type);
}

Status check_counts(unsigned precision, unsigned count) {
  if (precision != 8) {
    return fail(Errc::unsupported, "JPEG must have 8 bits per sample", "{} bits", precision);
  }
  if (count == 0) return fail(Errc::corrupt, "JPEG header declares no components");
  if (count != 1 && count != 3) {
    return fail(Errc::unsupported, "JPEG must have 1 or 3 components (no CMYK)", "{} components",
                count);
  }
  return {};
}

Status read_components(std::span<const std::byte> segment, JpegHeader& out) {
  const auto count = static_cast<std::size_t>(out.info.components);
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned factors = byte_at(segment, 6 + 3 * i + 1);
    auto& c = out.components[i];
    c.id = static_cast<std::uint8_t>(byte_at(segment, 6 + 3 * i));
    c.h = static_cast<std::uint8_t>(factors >> 4);
    c.v = static_cast<std::uint8_t>(factors & 15U);
    if (c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4) {
      return fail(Errc::corrupt, "JPEG sampling factors must be 1 to 4", "component {}: {} x {}", i,
                  c.h, c.v);
    }
  }
  const auto& luma = out.components[0];
  for (std::size_t i = 1; i < count; ++i) {
    if (out.components[i].h > luma.h || out.components[i].v > luma.v) {
      return fail(Errc::unsupported, "JPEG whose first component is subsampled is not supported",
                  "component 0: {} x {}, component {}: {} x {}", luma.h, luma.v, i,
                  out.components[i].h, out.components[i].v);
    }
  }
  return {};
}

Status read_frame(unsigned marker, std::span<const std::byte> segment, const DecodeLimits& limits,
                  JpegHeader& out) {
  HALYARD_RETURN_IF_ERROR(check_process(marker));
  if (segment.size() < 6) return fail(Errc::corrupt, "JPEG frame header is cut short");
  const unsigned precision = byte_at(segment, 0);
  const unsigned count = byte_at(segment, 5);
  HALYARD_RETURN_IF_ERROR(check_counts(precision, count));
  if (segment.size() != 6 + 3 * std::size_t{count}) {
    return fail(Errc::corrupt, "JPEG frame header contradicts its length",
                "{} bytes, {} components", segment.size(), count);
  }
  out.info.height = short_at(segment, 1);
  out.info.width = short_at(segment, 3);
  out.info.components = static_cast<int>(count);
  out.info.bit_depth = static_cast<int>(precision);
  out.info.progressive = marker == sof0 + 2;
  if (out.info.width == 0) return fail(Errc::corrupt, "JPEG header declares width 0");
  if (out.info.height == 0) {
    return fail(Errc::unsupported, "JPEG whose height follows the scan is not supported");
  }
  HALYARD_RETURN_IF_ERROR(check_limits(out.info.width, out.info.height, limits));
  return read_components(segment, out);
}

// The format of the file's sampling, or nv12 if no format has this sampling.
PixelFormat native_format(const JpegHeader& header) {
  if (header.info.components == 1) return PixelFormat::grey;
  if (header.stored_rgb) return PixelFormat::rgb;
  const auto& [y, cb, cr] = header.components;
  if (cb.h != cr.h || cb.v != cr.v) return PixelFormat::nv12;
  if (y.h == cb.h && y.v == cb.v) return PixelFormat::nv24;
  if (y.h == 2 * cb.h && y.v == cb.v) return PixelFormat::nv16;
  return PixelFormat::nv12;
}

void complete_jpeg_header(const Hints& hints, JpegHeader& out) {
  out.stored_rgb = out.info.components == 3 && components_are_rgb(out, hints);
  out.info.type = ImageFileType::jpeg;
  out.info.native_format = native_format(out);
  out.info.colorimetry = Colorimetry::jpeg();
  if (out.stored_rgb) out.info.colorimetry.encoding = ColorEncoding::unknown;
  if (out.info.components == 1) out.info.colorimetry = {.range = ColorRange::full};
}

void read_hints(unsigned marker, std::span<const std::byte> segment, Hints& hints,
                JpegHeader& out) {
  if (marker == app0 && segment.size() >= 14 && starts_with(segment, std::string_view("JFIF\0", 5)))
    hints.jfif = true;
  if (marker == app14 && segment.size() >= 12 && starts_with(segment, "Adobe"))
    hints.adobe_transform = byte_at(segment, 11);
  if (marker == app1 && out.exif.empty() && starts_with(segment, std::string_view("Exif\0\0", 6)))
    out.exif = segment;
}

bool is_frame(unsigned marker) {
  return marker >= sof0 && marker <= sof15 && marker != dht && marker != jpg && marker != dac;
}

struct Segment {
  unsigned marker = 0;
  std::span<const std::byte> payload;
};

// The next marker with its payload. Stray bytes before it are skipped, as libjpeg does.
Result<Segment> next_segment(std::span<const std::byte> file, std::size_t& at) {
  while (at + 1 < file.size()) {
    const unsigned marker = byte_at(file, at + 1);
    if (byte_at(file, at) != 0xFF || marker == 0xFF || marker == 0 || marker == tem ||
        (marker >= rst0 && marker <= rst7)) {
      ++at;
      continue;
    }
    if (marker == soi || marker == eoi) {
      return fail(Errc::corrupt, "JPEG has no image before its next start or end marker",
                  "marker 0x{:02x} at byte {}", marker, at);
    }
    at += 2;
    const std::size_t length = file.size() - at < 2 ? 0 : short_at(file, at);
    if (length < 2 || length > file.size() - at) {
      return fail(Errc::corrupt, "JPEG header is cut short", "segment 0x{:02x} at byte {} of {}",
                  marker, at - 2, file.size());
    }
    const Segment segment{marker, file.subspan(at + 2, length - 2)};
    at += length;
    return segment;
  }
  return fail(Errc::corrupt, "JPEG header is cut short", "no scan in {} bytes", file.size());
}

}  // namespace

bool is_jpeg(std::span<const std::byte> file) noexcept {
  return file.size() >= 3 && byte_at(file, 0) == 0xFF && byte_at(file, 1) == soi &&
         byte_at(file, 2) == 0xFF;
}

Result<JpegHeader> parse_jpeg_header(std::span<const std::byte> file, const DecodeLimits& limits) {
  JpegHeader out;
  Hints hints;
  std::size_t at = 2;
  bool has_frame = false;
  while (true) {
    HALYARD_TRY(const Segment segment, next_segment(file, at));
    if (segment.marker == sos) {
      out.scan_at = at - segment.payload.size() - 4;
      break;
    }
    if (segment.marker == dhp) return fail(Errc::unsupported, "hierarchical JPEG is not supported");
    if (is_frame(segment.marker)) {
      if (has_frame) return fail(Errc::corrupt, "JPEG has two frame headers");
      HALYARD_RETURN_IF_ERROR(read_frame(segment.marker, segment.payload, limits, out));
      has_frame = true;
    } else {
      read_hints(segment.marker, segment.payload, hints, out);
    }
  }
  if (!has_frame) return fail(Errc::corrupt, "JPEG has a scan but no frame header");
  out.data_bytes = file.size() - at;
  complete_jpeg_header(hints, out);
  return out;
}

std::size_t JpegHeader::blocks_of(std::size_t i) const noexcept {
  const auto& luma = components[0];
  const auto& c = components[i];
  const std::size_t columns = (info.width * c.h + luma.h * 8U - 1) / (luma.h * 8U);
  const std::size_t rows = (info.height * c.v + luma.v * 8U - 1) / (luma.v * 8U);
  return columns * rows;
}

std::size_t JpegHeader::blocks() const noexcept {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(info.components); ++i)
    sum += blocks_of(i);
  return sum;
}

Status check_jpeg_length(const JpegHeader& header) {
  if (header.data_bytes >= header.blocks() / 8) return {};
  return fail(Errc::corrupt, "the JPEG data is too short for the size that its header declares",
              "{} bytes for {} x {} pixels", header.data_bytes, header.info.width,
              header.info.height);
}

}  // namespace halyard::codec
