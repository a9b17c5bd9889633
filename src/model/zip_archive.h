// SPDX-License-Identifier: Apache-2.0
// Reads texts that exporters append to a model file as a ZIP archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halyard::model {

/// One entry of an archive; refers to the file's bytes.
struct ZipEntry {
  std::string_view name;
  std::span<const std::byte> content;  ///< as stored
  std::size_t size = 0;                ///< size of the text, from the directory
  bool is_deflated = false;
};

/// The stored or deflated entries of a ZIP archive at the end of `file`, at most 64. Entries that
/// contradict the file are omitted. Refers to `file`.
std::vector<ZipEntry> zip_entries(std::span<const std::byte> file);

/// The entry's text; nullopt if it is longer than `max_bytes` or does not inflate to its size.
std::optional<std::string> text_of(const ZipEntry& entry, std::size_t max_bytes);

/// A text and its name.
struct NamedText {
  std::string name;
  std::string text;
};
/// The .txt, .json and .yaml entries of the archive at the end of a file, each up to 4 MiB; empty
/// if there is none. Reads the last 16 MiB only.
std::vector<NamedText> appended_texts(const std::string& path);

}  // namespace halyard::model
