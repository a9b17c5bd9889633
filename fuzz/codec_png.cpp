// SPDX-License-Identifier: Apache-2.0
// PNG bytes, as they are and with corrected checksums, in every element type; and files whose
// filtered rows are the bytes. Rows that are inflated at once are compared with libspng's.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <span>
#include <vector>

#include "codec/png/png_decode.h"
#include "codec/png/png_inflate.h"
#include "halyard/codec.h"

namespace {

std::uint32_t crc32(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

// Without this, all mutated chunks would be refused at their checksum.
void repair(std::vector<std::uint8_t>& file) {
  std::size_t at = 8;
  while (file.size() >= 12 && at <= file.size() - 12) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i)
      length = length << 8 | file[at + i];
    if (length > file.size() - at - 12) return;
    const std::uint32_t crc = crc32({file.data() + at + 4, length + 4});
    for (std::size_t i = 0; i < 4; ++i) {
      file[at + 8 + length + i] = static_cast<std::uint8_t>(crc >> (24 - 8 * i));
    }
    at += length + 12;
  }
}

std::vector<std::byte> decoded(std::span<const std::byte> file,
                               const halyard::codec::PngHeader& header, std::size_t spare_bytes) {
  const auto image = halyard::Tensor::create_image(header.info.width, header.info.height,
                                                   halyard::PixelFormat::rgba, halyard::DType::u8,
                                                   halyard::Memory::mem);
  const auto map = image->map(halyard::Access::write);
  if (!halyard::codec::decode_png(file, header, halyard::PixelFormat::rgba, *map, spare_bytes)) {
    return {};
  }
  const auto& plane = map->plane(0);
  return {plane.data, plane.data + plane.rows * plane.stride_bytes};
}

// Compares the pixels of both ways, if both accept the file.
void compare_ways(std::span<const std::byte> file, const halyard::DecodeLimits& limits) {
  const auto header = halyard::codec::parse_png_header(file, limits);
  constexpr auto any = static_cast<std::size_t>(-1);
  if (!header || !halyard::codec::inflate_rows(file, *header, any)) return;
  const auto ours = decoded(file, *header, any);
  if (ours != decoded(file, *header, 0)) std::abort();
}

void load(std::span<const std::byte> file) {
  using halyard::DType;
  using halyard::PixelFormat;
  halyard::LoadOptions options{.memory = halyard::Memory::mem,
                               .limits = {.max_pixels = std::size_t{1} << 16}};
  const auto header = halyard::peek(file, options.limits);
  if (!header) {
    if (header.error().message().empty()) std::abort();
    return;
  }
  if (header->width * header->height > options.limits.max_pixels) std::abort();
  compare_ways(file, options.limits);
  const auto native = halyard::load_image(file, options);
  if (native && native->format() != header->native_format) std::abort();
  for (const DType dtype : {DType::u8, DType::i8, DType::u16, DType::f32}) {
    for (const PixelFormat format : {PixelFormat::grey, PixelFormat::bgra}) {
      auto image = halyard::Tensor::create_image(header->width, header->height, format, dtype,
                                                 options.memory);
      options.format = format;
      if (image) (void)halyard::load_into(*image, file, options);
    }
  }
}

void put_word(std::vector<std::uint8_t>& out, std::size_t word) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<std::uint8_t>(word >> shift));
}

void put_chunk(std::vector<std::uint8_t>& out, std::span<const std::uint8_t> typed) {
  put_word(out, typed.size() - 4);
  out.insert(out.end(), typed.begin(), typed.end());
  put_word(out, crc32(typed));
}

// The rows in one stored block of deflate, in a data chunk.
std::vector<std::uint8_t> stored(std::span<const std::uint8_t> rows) {
  const auto size = static_cast<std::uint16_t>(rows.size());
  const auto byte = [](unsigned value) { return static_cast<std::uint8_t>(value); };
  std::vector<std::uint8_t> out = {'I', 'D', 'A', 'T', 0x78, 1, 1};
  out.insert(out.end(), {byte(size), byte(size >> 8), byte(~size), byte(~size >> 8)});
  std::size_t low = 1, high = 0;
  for (const std::uint8_t value : rows) {
    out.push_back(value);
    low = (low + value) % 65521;
    high = (high + low) % 65521;
  }
  put_word(out, high << 16 | low);
  return out;
}

// A complete file: kind and width from the first bytes, as many rows as the other bytes fill.
void load_rows(std::span<const std::uint8_t> data) {
  constexpr std::uint8_t kinds[][3] = {{0, 8, 1}, {0, 16, 2}, {2, 8, 3}, {2, 16, 6}, {3, 8, 1},
                                       {4, 8, 2}, {4, 16, 4}, {6, 8, 4}, {6, 16, 8}};
  if (data.size() < 2) return;
  const auto& kind = kinds[data[0] % std::size(kinds)];
  const std::size_t width = 1 + data[1];
  const std::size_t row_bytes = 1 + width * kind[2];
  const std::size_t height = (data.size() - 2) / row_bytes;
  if (height == 0 || height * row_bytes > 0xFFFF) return;
  std::vector<std::uint8_t> rows(data.begin() + 2, data.begin() + 2 + height * row_bytes);
  for (std::size_t y = 0; y < height; ++y)
    rows[y * row_bytes] %= 5;
  std::vector<std::uint8_t> header = {'I', 'H', 'D', 'R'};
  put_word(header, width);
  put_word(header, height);
  header.insert(header.end(), {kind[1], kind[0], 0, 0, 0});
  std::vector<std::uint8_t> file = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  put_chunk(file, header);
  const std::uint8_t palette[] = {'P', 'L', 'T', 'E', 1, 2, 3, 200, 100, 0};
  if (kind[0] == 3) put_chunk(file, palette);
  put_chunk(file, stored(rows));
  const std::uint8_t end[] = {'I', 'E', 'N', 'D'};
  put_chunk(file, end);
  const auto bytes = std::as_bytes(std::span(file));
  const auto read = halyard::codec::parse_png_header(bytes, {});
  if (!read || !halyard::codec::inflate_rows(bytes, *read, file.size())) std::abort();
  load(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  load(std::as_bytes(std::span(data, size)));
  std::vector<std::uint8_t> repaired(data, data + size);
  repair(repaired);
  load(std::as_bytes(std::span(repaired)));
  load_rows({data, size});
  return 0;
}
