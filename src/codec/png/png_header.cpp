// SPDX-License-Identifier: Apache-2.0
// Reads PNG chunks (PNG specification, third edition, section 5).
#include "codec/png/png_header.h"

#include <array>
#include <cstring>

#include "base/text/format_error.h"
#include "codec/limits.h"

namespace halyard::codec {
namespace {

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i)
    word = word << 8 | std::to_integer<std::uint32_t>(bytes[at + i]);
  return word;
}

// Bit d of row c: color type c may have d bits per sample.
bool is_legal(unsigned color_type, unsigned depth) {
  constexpr std::array<std::uint32_t, 7> depths = {1U << 1 | 1U << 2 | 1U << 4 | 1U << 8 | 1U << 16,
                                                   0,
                                                   1U << 8 | 1U << 16,
                                                   1U << 1 | 1U << 2 | 1U << 4 | 1U << 8,
                                                   1U << 8 | 1U << 16,
                                                   0,
                                                   1U << 8 | 1U << 16};
  return color_type < depths.size() && depth <= 16 && (depths[color_type] >> depth & 1U) != 0;
}

Status read_ihdr(std::span<const std::byte> content, const DecodeLimits& limits, PngHeader& out) {
  if (content.size() != png_ihdr_bytes) {
    return fail(Errc::corrupt, "PNG header has the wrong length", "{} bytes, must be 13",
                content.size());
  }
  const auto byte = [&](std::size_t at) { return std::to_integer<std::uint8_t>(content[at]); };
  out.info.type = ImageFileType::png;
  out.info.width = word_at(content, 0);
  out.info.height = word_at(content, 4);
  out.info.bit_depth = byte(8);
  out.color_type = byte(9);
  out.interlaced = out.info.progressive = byte(12) == 1;
  out.info.palette = out.color_type == 3;
  if (!is_legal(out.color_type, byte(8)) || byte(10) != 0 || byte(11) != 0 || byte(12) > 1) {
    return fail(Errc::corrupt, "PNG header contradicts itself",
                "color type {}, depth {}, compression {}, filter {}, interlace {}", byte(9),
                byte(8), byte(10), byte(11), byte(12));
  }
  if (out.info.width == 0 || out.info.height == 0) {
    return fail(Errc::corrupt, "PNG header declares an empty image", "{} x {}", out.info.width,
                out.info.height);
  }
  return check_limits(out.info.width, out.info.height, limits);
}

void complete_png_header(PngHeader& out) {
  const bool is_color = (out.color_type & 2U) != 0;
  const bool alpha = (out.color_type & 4U) != 0 || (is_color && out.has_transparency);
  out.info.components = (is_color ? 3 : 1) + (alpha && out.color_type != 2 ? 1 : 0);
  out.info.native_format = !is_color ? PixelFormat::grey
                           : alpha   ? PixelFormat::rgba
                                     : PixelFormat::rgb;
  out.info.colorimetry = {.range = ColorRange::full};
  if (is_color) {
    out.info.colorimetry.space = ColorSpace::srgb;
    out.info.colorimetry.transfer = ColorTransfer::srgb;
  }
}

}  // namespace

PngChunk next_png_chunk(std::span<const std::byte> file, std::size_t& at) noexcept {
  if (file.size() - at < png_frame_bytes) return {};
  const std::size_t length = word_at(file, at);
  if (length > file.size() - at - png_frame_bytes) return {};
  const PngChunk chunk{{reinterpret_cast<const char*>(file.data()) + at + 4, 4},
                       file.subspan(at + 8, length)};
  at += length + png_frame_bytes;
  return chunk;
}

std::size_t PngHeader::samples_per_pixel() const noexcept {
  constexpr std::array<std::size_t, 7> samples = {1, 0, 3, 1, 2, 0, 4};
  return samples[color_type];
}

bool is_png(std::span<const std::byte> file) noexcept {
  return file.size() >= png_signature.size() &&
         std::memcmp(file.data(), png_signature.data(), png_signature.size()) == 0;
}

Result<PngHeader> parse_png_header(std::span<const std::byte> file, const DecodeLimits& limits) {
  PngHeader out;
  std::size_t at = png_signature.size();
  const PngChunk first = next_png_chunk(file, at);
  if (first.type.empty()) return fail(Errc::corrupt, "PNG header is cut short");
  if (first.type != "IHDR") return fail(Errc::corrupt, "PNG does not start with its header chunk");
  HALYARD_RETURN_IF_ERROR(read_ihdr(first.content, limits, out));
  bool has_data = false;
  while (true) {
    const std::size_t before = at;
    const PngChunk chunk = next_png_chunk(file, at);
    if (chunk.type.empty()) {
      // The last chunk may be cut. If it is an IDAT chunk, the header is complete.
      has_data = has_data || (file.size() - before >= 8 &&
                              std::memcmp(file.data() + before + 4, "IDAT", 4) == 0);
      break;
    }
    if (chunk.type == "IEND") {
      out.has_end = true;
      break;
    }
    if (chunk.type == "IDAT" && !has_data) {
      has_data = true;
      out.data_at = before;
    }
    if (chunk.type == "tRNS" && !has_data) out.has_transparency = true;
    // eXIf may follow the data.
    if (chunk.type == "eXIf" && out.exif.empty()) out.exif = chunk.content;
  }
  if (!has_data) return fail(Errc::corrupt, "PNG ends before its data", "{} bytes", file.size());
  complete_png_header(out);
  return out;
}

Status check_png_length(const PngHeader& header, std::size_t file_bytes) {
  if (!header.has_end) {
    return fail(Errc::corrupt, "the PNG data ends before its end chunk", "{} bytes", file_bytes);
  }
  constexpr std::size_t best_ratio = 1032;
  const std::size_t bits =
      header.samples_per_pixel() * static_cast<std::size_t>(header.info.bit_depth);
  const auto pixels = checked_mul(header.info.width, header.info.height);
  const auto image_bits = pixels ? checked_mul(*pixels, bits) : std::nullopt;
  if (image_bits && *image_bits / 8 / best_ratio <= file_bytes) return {};
  return fail(Errc::corrupt, "the PNG data is too short for the size that its header declares",
              "{} bytes for {} x {} pixels", file_bytes, header.info.width, header.info.height);
}

}  // namespace halyard::codec
