// SPDX-License-Identifier: Apache-2.0
// Names are compared as written. The names in use are collected once, by reserve().
#include "input/frame_names.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "halyard/codec.h"

namespace halyard::tool {
namespace {
namespace fs = std::filesystem;
}  // namespace

/// Links need no special care: a file would replace only the link's target, and PathCheck has
/// checked that.
void FrameNames::reserve(std::span<const std::string> paths) {
  for (const std::string& other : paths) {
    const fs::path path(other);
    std::error_code error;
    const fs::path around = path.has_parent_path() ? path.parent_path() : fs::path(".");
    if (fs::equivalent(around, folder_, error) && !error) used_.insert(path.filename().string());
  }
}

std::string FrameNames::path_for(const std::string& source, std::size_t index) {
  std::string stem = fs::path(source).stem().string();
  if (stem.empty() || stem == "-") stem = "frame";
  std::string name = stem + extension_;
  if (!image_file_type(source) || used_.contains(name))
    name = fmt::format("{}_{:06}{}", stem, index, extension_);
  // An input image may already have such a name.
  for (std::size_t more = 1; used_.contains(name); ++more)
    name = fmt::format("{}_{:06}_{}{}", stem, index, more, extension_);
  used_.insert(name);
  return (fs::path(folder_) / name).string();
}

Status make_folder(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_directory(path, error))
    return make_error(Errc::exists, "a file is in the place of the folder", path);
  fs::create_directories(path, error);
  if (!error) return {};
  const Errc code = error == std::errc::permission_denied ? Errc::permission : Errc::os;
  return make_error(code, "folder cannot be made", path, error.value());
}

}  // namespace halyard::tool
