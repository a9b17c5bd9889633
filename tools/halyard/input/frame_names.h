// SPDX-License-Identifier: Apache-2.0
// FrameNames: files of a folder that are named after frames, no name twice.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>

#include "halyard/result.h"

namespace halyard::tool {

/// Thread-bound.
class FrameNames {
 public:
  /// `extension` with its dot.
  FrameNames(std::string folder, std::string extension)
      : folder_(std::move(folder)), extension_(std::move(extension)) {}
  /// Takes the names of those files that lie in the folder itself out of use.
  void reserve(std::span<const std::string> paths);
  /// The path for a frame of `source`: "folder/photo.jpg" for photo.png. Frames of a video share
  /// its name, and so may images of two folders: these have the frame's index in theirs.
  std::string path_for(const std::string& source, std::size_t index);

 private:
  std::string folder_;
  std::string extension_;
  std::set<std::string> used_;
};

/// Makes the folder and those around it. Errors: exists (a file is in the way), permission, os.
Status make_folder(const std::string& path);

}  // namespace halyard::tool
