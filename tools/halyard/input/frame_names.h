// SPDX-License-Identifier: Apache-2.0
// FrameNames: unique names for files in a folder, made from the names of frames.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>

#include "halyard/result.h"

namespace halyard::tool {

/// Makes the names. Thread-bound.
class FrameNames {
 public:
  /// `extension` includes its dot.
  FrameNames(std::string folder, std::string extension)
      : folder_(std::move(folder)), extension_(std::move(extension)) {}
  /// Marks the names of `paths` that are in this folder as used.
  void reserve(std::span<const std::string> paths);
  /// The path for a frame of `source`: "folder/photo.jpg" for photo.png. If the name is used
  /// already, or `source` is not an image (a video's frames share its name), the name contains the
  /// frame's index.
  std::string path_for(const std::string& source, std::size_t index);

 private:
  std::string folder_;
  std::string extension_;
  std::set<std::string> used_;
};

/// Makes the folder and its parents. Errors: exists (a file has the name), permission, os.
Status make_folder(const std::string& path);

}  // namespace halyard::tool
