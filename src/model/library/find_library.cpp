// SPDX-License-Identifier: Apache-2.0
// Looks through folders by file name: the version is part of it.
#include "model/library/find_library.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/text/format_error.h"

namespace halyard::model {
namespace {

namespace fs = std::filesystem;

/// The file of the folder whose name is the prefix, or the prefix and a version; the first by name.
std::optional<std::string> file_in(const fs::path& folder, std::string_view prefix) {
  std::error_code error;
  std::vector<std::string> found;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    if (name.size() == prefix.size() || name[prefix.size()] == '.')
      found.push_back(entry->path().string());
  }
  if (found.empty()) return std::nullopt;
  return *std::min_element(found.begin(), found.end());
}

}  // namespace

Result<SharedObject> find_library(const LibraryPlaces& places,
                                  const std::optional<std::string>& folder) {
  if (folder) {
    if (folder->front() != '/')
      return fail(Errc::invalid_argument, places.variable, "'{}'", *folder);
    for (const std::string_view inner : places.inner)
      if (const auto file = file_in(fs::path(*folder) / inner, places.prefix))
        return SharedObject::open(*file, places.not_loaded);
    return fail(Errc::unsupported, places.not_found, "no {}* in '{}'", places.prefix, *folder);
  }
  Result<SharedObject> opened = fail(Errc::unsupported, places.not_loaded);
  for (const char* name : places.names) {
    opened = SharedObject::open(name, places.not_loaded);
    if (opened) break;
  }
  return opened;
}

}  // namespace halyard::model
