// SPDX-License-Identifier: Apache-2.0
// Reads the folders of plugins.
#include "base/runtime/plugin_paths.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/runtime/own_folder.h"

namespace halyard {
namespace {

namespace fs = std::filesystem;

void add_objects(const std::string& folder, std::vector<std::string>& found) {
  std::error_code error;
  std::vector<std::string> paths;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".so") paths.push_back(entry->path().string());
  std::sort(paths.begin(), paths.end());
  found.insert(found.end(), paths.begin(), paths.end());
}

}  // namespace

std::vector<std::string> plugin_paths(const std::vector<std::string>& listed, const char* folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const std::string& path : listed) {
    if (path.front() == '/' && fs::is_directory(path, error))
      add_objects(path, found);
    else
      found.push_back(path);
  }
  const std::string beside = own_folder();
  if (!beside.empty()) add_objects(beside + "/" + folder, found);
  return found;
}

}  // namespace halyard
