// SPDX-License-Identifier: Apache-2.0
// Inflates with libdeflate. It is faster than zlib because it has all of its input and output.
#include "codec/png/png_inflate.h"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/checked.h"
#include "codec/png/png_filter.h"

namespace halyard::codec {
namespace {

// Larger images are read row by row, so that a caller can cancel between rows.
constexpr std::size_t max_inflated_bytes = std::size_t{128} << 20;
// Limit of all metadata of a file that has chunks after the data. This much metadata is below all
// of libspng's limits (64 kB inflate to 66 MB), so libspng accepts every chunk whose checksum is
// right.
constexpr std::size_t max_metadata_bytes = std::size_t{1} << 16;
constexpr std::size_t max_late_chunks = 64;

using Memory = std::unique_ptr<std::uint8_t[]>;

Memory allocate(std::size_t bytes) {
  return Memory(new (std::nothrow) std::uint8_t[bytes]);
}

bool has_right_checksum(const PngChunk& chunk) {
  const char* end = chunk.type.data() + 4 + chunk.content.size();
  std::uint32_t stored = 0;
  for (std::size_t i = 0; i < 4; ++i)
    stored = stored << 8 | static_cast<unsigned char>(end[i]);
  return libdeflate_crc32(0, chunk.type.data(), 4 + chunk.content.size()) == stored;
}

// Whether the chunk may follow the data and can be skipped without any effect.
bool is_late_metadata(const PngChunk& chunk) {
  const bool is_known = chunk.type == "tEXt" || chunk.type == "tIME" || chunk.type == "eXIf";
  return is_known && !chunk.content.empty() && has_right_checksum(chunk);
}

// Whether only metadata and the end chunk follow the data.
bool ends_well(std::span<const std::byte> file, std::size_t metadata_bytes, PngChunk chunk,
               std::size_t at) {
  for (std::size_t count = 0; count < max_late_chunks; ++count) {
    if (chunk.type == "IEND") return chunk.content.empty() && has_right_checksum(chunk);
    metadata_bytes += chunk.content.size();
    if (metadata_bytes > max_metadata_bytes || !is_late_metadata(chunk)) return false;
    chunk = next_png_chunk(file, at);
  }
  return false;
}

struct Stream {
  std::span<const std::byte> bytes;
  Memory joined;  // holds `bytes` if the file has them in several chunks
};

bool join(std::span<const std::byte> file, const PngHeader& header, std::size_t bytes,
          Stream& stream) {
  stream.joined = allocate(bytes);
  if (!stream.joined) return false;
  std::size_t at = header.data_at;
  std::size_t filled = 0;
  for (PngChunk chunk = next_png_chunk(file, at); chunk.type == "IDAT";
       chunk = next_png_chunk(file, at)) {
    // The data pointer of an empty span may be null.
    if (!chunk.content.empty()) {
      std::memcpy(stream.joined.get() + filled, chunk.content.data(), chunk.content.size());
    }
    filled += chunk.content.size();
  }
  stream.bytes = std::as_bytes(std::span(stream.joined.get(), bytes));
  return true;
}

std::optional<Stream> find_stream(std::span<const std::byte> file, const PngHeader& header,
                                  std::size_t spare_bytes) {
  constexpr std::size_t first_metadata = 33;  // offset after the signature and the header chunk
  std::size_t at = header.data_at;
  std::size_t bytes = 0;
  Stream stream;
  PngChunk chunk = next_png_chunk(file, at);
  for (; chunk.type == "IDAT"; chunk = next_png_chunk(file, at)) {
    if (!has_right_checksum(chunk)) return std::nullopt;
    if (stream.bytes.empty()) stream.bytes = chunk.content;
    bytes += chunk.content.size();
  }
  if (!ends_well(file, header.data_at - first_metadata, chunk, at)) return std::nullopt;
  if (bytes == stream.bytes.size()) return stream;
  if (bytes > spare_bytes || !join(file, header, bytes, stream)) return std::nullopt;
  return stream;
}

// Bytes of the inflated rows; nullopt if libspng must read the file.
std::optional<std::size_t> inflated_bytes(const PngHeader& header, std::size_t row_bytes,
                                          std::size_t spare_bytes) {
  const bool has_transparent_color = header.has_transparency && header.color_type != 3;
  if (header.interlaced || header.info.bit_depth < 8 || has_transparent_color ||
      header.data_at == 0 || !header.has_end) {
    return std::nullopt;
  }
  const auto bytes = checked_mul(row_bytes + 1, header.info.height);
  if (!bytes || *bytes > std::min(max_inflated_bytes, spare_bytes)) return std::nullopt;
  return bytes;
}

// Inflates exactly all of `out`; false if the stream is longer or shorter.
bool inflate(std::span<const std::byte> stream, std::span<std::uint8_t> out) {
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> codec(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!codec) return false;
  // Bytes after the stream's end are ignored, as libspng does.
  std::size_t consumed = 0;
  return libdeflate_zlib_decompress_ex(codec.get(), stream.data(), stream.size(), out.data(),
                                       out.size(), &consumed, nullptr) == LIBDEFLATE_SUCCESS;
}

}  // namespace

std::optional<InflatedRows> inflate_rows(std::span<const std::byte> file, const PngHeader& header,
                                         std::size_t spare_bytes) {
  InflatedRows rows;
  rows.pixel_bytes = header.samples_per_pixel() * (header.info.bit_depth == 16 ? 2 : 1);
  rows.row_bytes = header.info.width * rows.pixel_bytes;
  const auto bytes = inflated_bytes(header, rows.row_bytes, spare_bytes);
  if (!bytes) return std::nullopt;
  const auto stream = find_stream(file, header, spare_bytes - *bytes);
  if (!stream) return std::nullopt;
  rows.bytes = allocate(*bytes + png_row_slack);
  if (!rows.bytes || !inflate(stream->bytes, {rows.bytes.get(), *bytes})) return std::nullopt;
  std::memset(rows.bytes.get() + *bytes, 0, png_row_slack);
  for (std::size_t y = 0; y < header.info.height; ++y) {
    if (*rows.row(y) >= png_filter_count) return std::nullopt;
  }
  return rows;
}

}  // namespace halyard::codec
