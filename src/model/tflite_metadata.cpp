// SPDX-License-Identifier: Apache-2.0
// Reads the tail of the file: end-of-central-directory record, central directory, local header.
// Format: PKWARE APPNOTE 4.3. All offsets come from outside and are checked against the file.
#include "model/tflite_metadata.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/python_literal.h"

namespace halyard::model {
namespace {

constexpr std::size_t end_record_bytes = 22;
constexpr std::size_t directory_entry_bytes = 46;
constexpr std::size_t local_header_bytes = 30;
// Metadata is a few kilobytes; the archive's own offsets count from the start of the archive or of
// the file, so the tail alone is enough when offsets are taken from its end.
constexpr std::size_t max_tail_bytes = std::size_t{1} << 20;

std::uint32_t little(std::span<const std::byte> bytes, std::size_t at, std::size_t count) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i)
    value |= std::to_integer<std::uint32_t>(bytes[at + i]) << (8 * i);
  return value;
}

bool has_signature(std::span<const std::byte> bytes, std::size_t at, std::uint32_t value) noexcept {
  return at <= bytes.size() && bytes.size() - at >= 4 && little(bytes, at, 4) == value;
}

bool is_text_name(std::span<const std::byte> name) noexcept {
  const std::string_view text(reinterpret_cast<const char*>(name.data()), name.size());
  return text.ends_with(".txt") || text.ends_with(".json");
}

/// Content of a stored entry whose local header is at `at`; empty when it does not fit.
std::string_view stored_content(std::span<const std::byte> file, std::size_t at,
                                std::size_t size) noexcept {
  if (!has_signature(file, at, 0x04034b50) || file.size() - at < local_header_bytes) return {};
  const std::size_t names = little(file, at + 26, 2) + little(file, at + 28, 2);
  const std::size_t left = file.size() - at - local_header_bytes;
  if (names > left || size > left - names) return {};
  return {reinterpret_cast<const char*>(file.data()) + at + local_header_bytes + names, size};
}

}  // namespace

std::string_view appended_text(std::span<const std::byte> file) noexcept {
  if (file.size() < end_record_bytes) return {};
  std::size_t end = file.size() - end_record_bytes;
  const std::size_t lowest = end - std::min<std::size_t>(end, 65535);
  while (!has_signature(file, end, 0x06054b50)) {
    if (end == lowest) return {};
    --end;
  }
  const std::size_t directory_bytes = little(file, end + 12, 4);
  const std::size_t directory_offset = little(file, end + 16, 4);
  if (directory_bytes > end) return {};
  std::size_t at = end - directory_bytes;
  // How far the archive's offsets lie behind this span's: the model before it, or the cut-off head.
  const std::ptrdiff_t shift = std::ptrdiff_t(at) - std::ptrdiff_t(directory_offset);
  while (has_signature(file, at, 0x02014b50) && end - at >= directory_entry_bytes) {
    const std::size_t name = little(file, at + 28, 2);
    const std::size_t rest = name + little(file, at + 30, 2) + little(file, at + 32, 2);
    if (rest > end - at - directory_entry_bytes) return {};
    const bool is_stored = little(file, at + 10, 2) == 0;
    const std::ptrdiff_t header = std::ptrdiff_t(little(file, at + 42, 4)) + shift;
    if (is_stored && header >= 0 && is_text_name(file.subspan(at + directory_entry_bytes, name)))
      return stored_content(file, std::size_t(header), little(file, at + 24, 4));
    at += directory_entry_bytes + rest;
  }
  return {};
}

Metadata read_tflite_metadata(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? std::streamoff(file.tellg()) : 0;
  if (size <= 0) return {};
  std::vector<std::byte> tail(std::min<std::size_t>(std::size_t(size), max_tail_bytes));
  file.seekg(size - std::streamoff(tail.size()));
  file.read(reinterpret_cast<char*>(tail.data()), std::streamsize(tail.size()));
  if (!file) return {};
  Metadata metadata;
  if (const auto items = split_literal(appended_text(tail))) {
    for (const LiteralItem& item : *items)
      metadata[item.key] = item.value;
  }
  return metadata;
}

}  // namespace halyard::model
