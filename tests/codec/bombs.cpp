// SPDX-License-Identifier: Apache-2.0
// The files are put together by hand: no encoder writes them.
#include "codec/bombs.h"

#include <algorithm>

#include "codec/png_writer.h"

namespace halyard::test {
namespace {

using Text = std::string;

void append(Text& out, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i)
    out.push_back(static_cast<char>(value >> (8 * i)));
}
void put_little(Text& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    out.push_back(static_cast<char>(value >> (8 * i)));
}

Text segment(unsigned marker, const Text& content) {
  Text out = "\xFF";
  append(out, marker, 1);
  append(out, content.size() + 2, 2);
  return out + content;
}

// A Huffman table of one code, the bit 0.
Text table(char place, char symbol) {
  return segment(0xC4, Text{place, 1} + Text(15, '\0') + symbol);
}

Text scan_header(int first, int last, int high, int low) {
  return segment(0xDA, Text{1, 1, 0, static_cast<char>(first), static_cast<char>(last),
                            static_cast<char>(high << 4 | low)});
}

// Bits to bytes, ones behind the last, a zero behind each byte of ones.
Text stuffed(const std::vector<bool>& bits) {
  Text out;
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    unsigned byte = 0;
    for (std::size_t b = 0; b < 8; ++b)
      byte = byte << 1 | (i + b >= bits.size() || bits[i + b] ? 1U : 0U);
    out.push_back(static_cast<char>(byte));
    if (byte == 0xFF) out.push_back('\0');
  }
  return out;
}

// Runs over `blocks` blocks without a coefficient: the code, and 14 bits of the length.
Text empty_runs(std::uint64_t blocks) {
  std::vector<bool> bits;
  for (std::uint64_t left = blocks; left > 0;) {
    const std::uint64_t run = std::clamp<std::uint64_t>(left, 1U << 14U, (1U << 15U) - 1);
    bits.push_back(false);
    for (unsigned b = 14; b-- > 0;)
      bits.push_back((run >> b & 1U) != 0);
    left -= std::min(left, run);
  }
  return stuffed(bits);
}

Bytes to_bytes(const Text& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

Bytes scan_bomb(unsigned side, int scans) {
  const std::uint64_t across = (side + 7) / 8;
  const std::uint64_t blocks = across * across;
  Text out = "\xFF\xD8" + segment(0xDB, Text(1, '\0') + Text(64, '\1'));
  Text frame = "\x08";
  append(frame, side, 2);
  append(frame, side, 2);
  out += segment(0xC2, frame + Text{1, 1, 0x11, 0});
  out += table(0, 0) + table(0x10, static_cast<char>(0xE0));
  out += scan_header(0, 0, 0, 0) + stuffed(std::vector<bool>(blocks));
  const Text runs = empty_runs(blocks);
  for (int i = 0; i < scans; ++i) {
    const int low = 13 - i / 63;
    out += scan_header(1 + i % 63, 1 + i % 63, i < 63 ? 0 : low + 1, low) + runs;
  }
  return to_bytes(out + "\xFF\xD9");
}

Bytes blank_png(unsigned width, unsigned height, bool has_transparency, bool is_interlaced) {
  // The passes of an interlaced image have more rows, and so more filter bytes.
  const std::size_t raw = (std::size_t{width} + 7) / 8 * height + height;
  const std::size_t size = is_interlaced ? raw + raw / 4 + 64 * std::size_t{height} : raw;
  RawPng spec{.width = width,
              .height = height,
              .depth = 1,
              .color_type = 3,
              .is_interlaced = is_interlaced,
              .before_data = png_chunk("PLTE", Text(6, '\x7F'))};
  if (has_transparency) spec.before_data += png_chunk("tRNS", Text(1, '\x40'));
  spec.data = zlib_stream(Text(size, '\0'), 9);
  spec.data_chunk = spec.data.size();
  return png_file(spec);
}

std::string looping_exif() {
  constexpr std::uint64_t entries = 2500;
  constexpr std::uint64_t second = 8 + 2 + 12 * entries + 4;
  constexpr std::uint64_t tags[] = {0x8769, 0x8825, 0xA005};
  Text tiff("II*\0\x08\0\0\0", 8);
  for (int directory = 0; directory < 2; ++directory) {
    put_little(tiff, entries, 2);
    for (std::uint64_t i = 0; i < entries; ++i) {
      put_little(tiff, tags[i % 3], 2);
      put_little(tiff, 4, 2);
      put_little(tiff, 1, 4);
      put_little(tiff, second, 4);
    }
    put_little(tiff, 0, 4);
  }
  return Text("Exif\0\0", 6) + tiff;
}

}  // namespace halyard::test
