// SPDX-License-Identifier: Apache-2.0
#include "codec/png/png_deflate.h"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/checked.h"
#include "base/text/format_error.h"
#include "codec/exif.h"
#include "codec/png/png_filter.h"
#include "codec/png/png_header.h"

namespace halyard::codec {
namespace {

constexpr std::size_t max_deflated_bytes = std::size_t{256} << 20;

Error no_memory() {
  return fail(Errc::no_memory, "memory for the PNG codec cannot be allocated");
}

void put_word(std::size_t word, std::byte* at) {
  for (std::size_t i = 0; i < 4; ++i)
    at[i] = static_cast<std::byte>(word >> (24 - 8 * i));
}

// Writes length, type and CRC around the `content_bytes` bytes at `at + 8`; returns the end.
std::byte* frame_chunk(std::string_view type, std::size_t content_bytes, std::byte* at) {
  put_word(content_bytes, at);
  std::memcpy(at + 4, type.data(), 4);
  put_word(libdeflate_crc32(0, at + 4, 4 + content_bytes), at + 8 + content_bytes);
  return at + png_frame_bytes + content_bytes;
}

// Two rows of scratch with zeros before them, as filter_row() requires.
class RowPair {
 public:
  explicit RowPair(std::size_t row_bytes)
      : pitch_(png_row_lead + row_bytes + png_row_slack),
        memory_(2 * pitch_),
        here_(memory_.data() + png_row_lead),
        above_(here_ + pitch_) {}

  std::uint8_t* here() const { return here_; }
  const std::uint8_t* above() const { return above_; }
  void advance() { std::swap(here_, above_); }

 private:
  std::size_t pitch_;
  std::vector<std::uint8_t> memory_;
  std::uint8_t* here_;
  std::uint8_t* above_;
};

// `out` must have png_row_slack bytes after the rows.
void filter_rows(const MappedPlane& plane, std::size_t pixel_bytes, bool is_filtered,
                 std::uint8_t* out) {
  RowPair rows(plane.row_bytes);
  for (std::size_t y = 0; y < plane.rows; ++y, out += plane.row_bytes + 1) {
    const std::byte* in = plane.data + y * plane.stride_bytes;
    if (!is_filtered) {
      *out = static_cast<std::uint8_t>(PngFilter::none);
      std::memcpy(out + 1, in, plane.row_bytes);
      continue;
    }
    std::memcpy(rows.here(), in, plane.row_bytes);
    filter_row(pixel_bytes, plane.row_bytes, rows.here(), rows.above(), out);
    rows.advance();
  }
}

constexpr std::size_t tiff_bytes = sizeof(ExifBlock) - exif_prefix_bytes;

bool has_exif(const PngLabels& labels) {
  return tag_of(labels.orientation) != 1;
}

// Bytes before the IDAT chunk.
std::size_t head_bytes(const PngLabels& labels) {
  return png_signature.size() + png_frame_bytes + png_ihdr_bytes +
         (has_exif(labels) ? png_frame_bytes + tiff_bytes : 0);
}

std::byte* put_exif(Orientation orientation, std::byte* at) {
  const ExifBlock block = exif_block(orientation);
  std::memcpy(at + 8, block.data() + exif_prefix_bytes, tiff_bytes);
  return frame_chunk("eXIf", tiff_bytes, at);
}

std::byte* put_head(const MappedPlane& plane, std::size_t pixel_bytes, const PngLabels& labels,
                    std::byte* at) {
  std::memcpy(at, png_signature.data(), png_signature.size());
  at += png_signature.size();
  std::byte* content = at + 8;
  put_word(plane.row_bytes / pixel_bytes, content);
  put_word(plane.rows, content + 4);
  // Bits per sample and colour type; then deflate, the five filters, not interlaced.
  const std::uint8_t rest[] = {8, labels.color_type, 0, 0, 0};
  std::memcpy(content + 8, rest, sizeof rest);
  at = frame_chunk("IHDR", png_ihdr_bytes, at);
  return has_exif(labels) ? put_exif(labels.orientation, at) : at;
}

using Bytes = std::vector<std::byte>;

// Writes the deflated stream into `out` from `at` on and grows `out`; returns the stream's length.
Result<std::size_t> pack(std::span<const std::uint8_t> raw, int level, std::size_t at, Bytes& out) {
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> codec(
      libdeflate_alloc_compressor(level), libdeflate_free_compressor);
  if (!codec) return no_memory();
  const std::size_t bound = libdeflate_zlib_compress_bound(codec.get(), raw.size());
  // Room after the stream: its checksum, and the end chunk.
  if (out.size() < at + bound + 4 + png_frame_bytes) out.resize(at + bound + 4 + png_frame_bytes);
  const std::size_t packed =
      libdeflate_zlib_compress(codec.get(), raw.data(), raw.size(), out.data() + at, bound);
  HALYARD_ASSERT(packed > 0);  // the bound is enough for any input
  return packed;
}

// Greedy matching takes short matches that cost more than literals. In grey photographs this costs
// 5 % of the file, so they are packed a second time by a level that weighs costs.
bool pays_twice(std::size_t pixel_bytes, int level, std::size_t packed, std::size_t raw) {
  return pixel_bytes == 1 && level >= 6 && packed > raw / 4;
}

}  // namespace

bool deflates_png(std::size_t row_bytes, std::size_t rows) noexcept {
  const auto bytes = checked_mul(row_bytes + 1, rows);
  return bytes && *bytes > 0 && *bytes <= max_deflated_bytes;
}

Result<std::vector<std::byte>> deflate_png(const MappedPlane& plane, std::size_t pixel_bytes,
                                           const PngLabels& labels, int level) {
  const std::size_t raw_bytes = (plane.row_bytes + 1) * plane.rows;
  const std::unique_ptr<std::uint8_t[]> memory(new (std::nothrow)
                                                   std::uint8_t[raw_bytes + png_row_slack]);
  if (!memory) return no_memory();
  const std::span<const std::uint8_t> raw(memory.get(), raw_bytes);
  // A filter does not help rows that are stored without compression.
  filter_rows(plane, pixel_bytes, level > 0, memory.get());
  Bytes out(head_bytes(labels));
  const auto data_at =
      static_cast<std::size_t>(put_head(plane, pixel_bytes, labels, out.data()) - out.data());
  HALYARD_TRY(std::size_t packed, pack(raw, level, data_at + 8, out));
  if (pays_twice(pixel_bytes, level, packed, raw_bytes)) {
    constexpr int best_level = 12;
    HALYARD_TRY(packed, pack(raw, std::min(level + 4, best_level), data_at + 8, out));
  }
  std::byte* end = frame_chunk("IDAT", packed, out.data() + data_at);
  end = frame_chunk("IEND", 0, end);
  out.resize(static_cast<std::size_t>(end - out.data()));
  out.shrink_to_fit();
  return out;
}

}  // namespace halyard::codec
