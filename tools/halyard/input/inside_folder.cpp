// SPDX-License-Identifier: Apache-2.0
// A name in a document is untrusted text.
#include "input/inside_folder.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace halyard::tool {
namespace {

namespace fs = std::filesystem;

Error os_error(const char* what, const std::error_code& error, const std::string& name) {
  const Errc code = error == std::errc::no_such_file_or_directory ? Errc::not_found
                    : error == std::errc::permission_denied       ? Errc::permission
                                                                  : Errc::os;
  return make_error(code, what, name, error.value());
}

}  // namespace

Result<std::string> file_inside(const std::string& folder, const std::string& name) {
  const fs::path relative(name);
  if (name.empty() || name.find('\0') != std::string::npos || !relative.is_relative() ||
      std::find(relative.begin(), relative.end(), "..") != relative.end()) {
    return make_error(Errc::invalid_argument,
                      "file name must be relative to its folder, without \"..\"", name);
  }
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return os_error("folder cannot be opened", error, folder);
  const fs::path path = fs::canonical(root / relative, error);
  if (error) return os_error("file cannot be opened", error, name);
  const auto mismatch = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  if (mismatch.first != root.end()) {
    return make_error(Errc::invalid_argument, "file name leads out of its folder through a link",
                      name);
  }
  // A pipe would block, and a device could be read without end.
  if (!fs::is_regular_file(path, error))
    return make_error(Errc::invalid_argument, "file name is not that of a regular file", name);
  return path.string();
}

}  // namespace halyard::tool
