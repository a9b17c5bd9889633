// SPDX-License-Identifier: Apache-2.0
// Reads the end of the file: end-of-central-directory record, central directory, local headers.
// Format: PKWARE APPNOTE 4.3. All offsets come from outside and are checked against the file.
#include "model/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <fstream>

namespace halyard::model {
namespace {

constexpr std::size_t end_record_bytes = 22;
constexpr std::size_t directory_entry_bytes = 46;
constexpr std::size_t local_header_bytes = 30;
constexpr std::size_t max_zip_entries = 64;
// The archive's offsets count from the start of the archive or of the file. They are converted to
// offsets from the end, so the last bytes of the file are enough.
constexpr std::size_t max_tail_bytes = std::size_t{16} << 20;
constexpr std::size_t max_text_bytes = std::size_t{4} << 20;

std::uint32_t little(std::span<const std::byte> bytes, std::size_t at, std::size_t count) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i)
    value |= std::to_integer<std::uint32_t>(bytes[at + i]) << (8 * i);
  return value;
}

bool has_signature(std::span<const std::byte> bytes, std::size_t at, std::uint32_t value) noexcept {
  return at <= bytes.size() && bytes.size() - at >= 4 && little(bytes, at, 4) == value;
}

std::string_view chars_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Content of the entry whose local header is at `at`; nullopt if it does not fit.
std::optional<std::span<const std::byte>> content_at(std::span<const std::byte> file,
                                                     std::size_t at, std::size_t size) noexcept {
  if (!has_signature(file, at, 0x04034b50) || file.size() - at < local_header_bytes)
    return std::nullopt;
  const std::size_t names = little(file, at + 26, 2) + little(file, at + 28, 2);
  const std::size_t left = file.size() - at - local_header_bytes;
  if (names > left || size > left - names) return std::nullopt;
  return file.subspan(at + local_header_bytes + names, size);
}

/// Offset of the end record.
std::optional<std::size_t> find_end(std::span<const std::byte> file) noexcept {
  if (file.size() < end_record_bytes) return std::nullopt;
  std::size_t end = file.size() - end_record_bytes;
  const std::size_t lowest = end - std::min<std::size_t>(end, 65535);
  while (!has_signature(file, end, 0x06054b50)) {
    if (end == lowest) return std::nullopt;
    --end;
  }
  return end;
}

bool is_text_name(std::string_view name) noexcept {
  return name.ends_with(".txt") || name.ends_with(".json") || name.ends_with(".yaml");
}

}  // namespace

std::vector<ZipEntry> zip_entries(std::span<const std::byte> file) {
  std::vector<ZipEntry> out;
  const auto end = find_end(file);
  if (!end) return out;
  const std::size_t directory_bytes = little(file, *end + 12, 4);
  const std::size_t directory_offset = little(file, *end + 16, 4);
  if (directory_bytes > *end) return out;
  std::size_t at = *end - directory_bytes;
  // Difference between this span's and the archive's offsets: the model before it, or the missing
  // head.
  const std::ptrdiff_t shift = std::ptrdiff_t(at) - std::ptrdiff_t(directory_offset);
  while (out.size() < max_zip_entries && has_signature(file, at, 0x02014b50) &&
         *end - at >= directory_entry_bytes) {
    const std::size_t name = little(file, at + 28, 2);
    const std::size_t rest = name + little(file, at + 30, 2) + little(file, at + 32, 2);
    if (rest > *end - at - directory_entry_bytes) return out;
    const std::uint32_t method = little(file, at + 10, 2);
    const std::ptrdiff_t header = std::ptrdiff_t(little(file, at + 42, 4)) + shift;
    if ((method == 0 || method == 8) && header >= 0) {
      if (const auto content = content_at(file, std::size_t(header), little(file, at + 20, 4)))
        out.push_back({chars_of(file.subspan(at + directory_entry_bytes, name)), *content,
                       little(file, at + 24, 4), method == 8});
    }
    at += directory_entry_bytes + rest;
  }
  return out;
}

std::optional<std::string> text_of(const ZipEntry& entry, std::size_t max_bytes) {
  if (entry.size > max_bytes || entry.content.size() > max_bytes) return std::nullopt;
  if (!entry.is_deflated) {
    if (entry.size != entry.content.size()) return std::nullopt;
    return std::string(chars_of(entry.content));
  }
  std::string out(entry.size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
  // zlib's field is not const, but zlib only reads it.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(entry.content.data()));
  stream.avail_in = static_cast<uInt>(entry.content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (status != Z_STREAM_END || stream.avail_out != 0) return std::nullopt;
  return out;
}

std::vector<NamedText> appended_texts(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? std::streamoff(file.tellg()) : 0;
  if (size <= 0) return {};
  std::vector<std::byte> tail(std::min<std::size_t>(std::size_t(size), max_tail_bytes));
  file.seekg(size - std::streamoff(tail.size()));
  file.read(reinterpret_cast<char*>(tail.data()), std::streamsize(tail.size()));
  if (!file) return {};
  std::vector<NamedText> out;
  for (const ZipEntry& entry : zip_entries(tail)) {
    if (!is_text_name(entry.name)) continue;
    if (auto text = text_of(entry, max_text_bytes))
      out.push_back({std::string(entry.name), *std::move(text)});
  }
  return out;
}

}  // namespace halyard::model
