// SPDX-License-Identifier: Apache-2.0
#include "codec/png_writer.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace halyard::test {
namespace {

void put_word(std::string& out, std::size_t word) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out += static_cast<char>(word >> shift & 0xFFU);
}

int plain_paeth(int a, int b, int c) {
  const int p = a + b - c;
  const int pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  if (pa <= pb && pa <= pc) return a;
  return pb <= pc ? b : c;
}

}  // namespace

std::string png_chunk(std::string_view type, std::string_view content) {
  std::string out;
  put_word(out, content.size());
  const std::string checked = std::string(type) + std::string(content);
  out += checked;
  put_word(out, ::crc32(0, reinterpret_cast<const Bytef*>(checked.data()),
                        static_cast<uInt>(checked.size())));
  return out;
}

Bytes png_file(const RawPng& spec) {
  std::string header;
  put_word(header, spec.width);
  put_word(header, spec.height);
  header += {static_cast<char>(spec.depth), static_cast<char>(spec.color_type), 0, 0,
             static_cast<char>(spec.is_interlaced ? 1 : 0)};
  std::string out = "\x89PNG\r\n\x1A\n" + png_chunk("IHDR", header) + spec.before_data;
  for (std::size_t at = 0; at < spec.data.size(); at += spec.data_chunk)
    out += png_chunk("IDAT", std::string_view(spec.data).substr(at, spec.data_chunk));
  out += spec.after_data + png_chunk("IEND", "");
  Bytes bytes(out.size());
  std::memcpy(bytes.data(), out.data(), out.size());
  return bytes;
}

std::size_t png_pixel_bytes(const RawPng& spec) {
  constexpr std::array<std::size_t, 7> samples = {1, 0, 3, 1, 2, 0, 4};
  const auto bits =
      samples[static_cast<std::size_t>(spec.color_type)] * static_cast<std::size_t>(spec.depth);
  return std::max<std::size_t>(bits / 8, 1);
}

int plain_predictor(int filter, int left, int above, int corner) {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) / 2;
    case 4:
      return plain_paeth(left, above, corner);
    default:
      return 0;
  }
}

std::vector<std::uint8_t> plain_unfilter(int filter, std::size_t pixel_bytes,
                                         const std::vector<std::uint8_t>& row,
                                         const std::vector<std::uint8_t>& above) {
  std::vector<std::uint8_t> out(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const bool is_first = i < pixel_bytes;
    const int a = is_first ? 0 : out[i - pixel_bytes];
    const int c = is_first ? 0 : above[i - pixel_bytes];
    out[i] = static_cast<std::uint8_t>(row[i] + plain_predictor(filter, a, above[i], c));
  }
  return out;
}

std::string zlib_stream(std::string_view bytes, int level) {
  std::string out(::compressBound(bytes.size()), '\0');
  auto length = static_cast<uLongf>(out.size());
  ::compress2(reinterpret_cast<Bytef*>(out.data()), &length,
              reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), level);
  out.resize(length);
  return out;
}

}  // namespace halyard::test
