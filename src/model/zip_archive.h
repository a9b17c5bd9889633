// SPDX-License-Identifier: Apache-2.0
// Texts that exporters append to a model file as a ZIP archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halyard::model {

/// One entry of an archive, inside the file's bytes.
struct ZipEntry {
  std::string_view name;
  std::span<const std::byte> content;  ///< as it lies there
  std::size_t size = 0;                ///< of the text, as the directory says
  bool is_deflated = false;
};

/// Entries of a ZIP archive at the end of `file` that are stored or deflated, at most 64 of them;
/// entries that contradict the file are left out. Refers to `file`.
std::vector<ZipEntry> zip_entries(std::span<const std::byte> file);

/// The entry's text. Nothing when it is longer than `max_bytes`, or does not inflate to its size.
std::optional<std::string> text_of(const ZipEntry& entry, std::size_t max_bytes);

/// A text and its name.
struct NamedText {
  std::string name;
  std::string text;
};
/// The .txt, .json and .yaml entries of the archive at the end of a file, each up to 4 MiB; empty
/// where there is none. Looks at the last 16 MiB.
std::vector<NamedText> appended_texts(const std::string& path);

}  // namespace halyard::model
