// SPDX-License-Identifier: Apache-2.0
// The paths of a command line: no output may be an input or another output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "halyard/output_file.h"

namespace halyard::tool {

/// Opens an output file; "-" is standard output. Errors: as OutputFile.
Result<OutputFile> open_output(const std::string& path);

/// Collects the paths of all options, then compares the files: by device and inode, and for files
/// that do not exist yet by those of the folder, with the rest of the name. Links are followed, so
/// two names of one file count as one. Several options may use one character device. An empty path
/// is an option that was not given. `option` is the name in messages.
class PathCheck {
 public:
  /// A file to read; "-" (standard input) is refused.
  PathCheck& input(const std::string& option, const std::string& path);
  /// As input(), but "-" is standard input.
  PathCheck& stream_input(const std::string& option, const std::string& path);
  /// An image or video, or a folder of images; "-" is standard input.
  PathCheck& frames(const std::string& option, const std::string& path);
  /// A folder whose files are read, subfolders included.
  PathCheck& input_tree(const std::string& option, const std::string& path);
  /// A model, and the other files that are read with it: files_of_model().
  PathCheck& model(const std::string& option, const std::string& path);
  /// A file to write.
  PathCheck& output(const std::string& option, const std::string& path);
  /// As output(), but "-" is standard output.
  PathCheck& stream_output(const std::string& option, const std::string& path);
  /// A folder for images that are named after frames().
  PathCheck& output_folder(const std::string& option, const std::string& path);

  /// A folder for texts: no name in it may be a link to an input.
  PathCheck& text_folder(const std::string& option, const std::string& path);

  /// Reports the first clash, or two options that read standard input, with the names of both
  /// options. Returns exit_ok or exit_usage. Reads the file system.
  int run() const;

 private:
  enum class Kind { input, frames, input_tree, output, stream_output, output_folder, text_folder };
  struct Use {
    Kind kind;
    std::string option;
    std::string path;
  };
  struct Seen;
  PathCheck& add(Kind kind, const std::string& option, const std::string& path);
  static std::optional<Seen> look_at(const Use& use);
  static bool clashes(const Seen& output, const Seen& other);
  static bool overwrites_inside(const Seen& output, const Seen& input);
  static bool overwrites_frames(const Seen& folder, const Seen& input);
  static bool links_to(const Seen& folder, const Seen& input);
  std::vector<Use> uses_;
  std::vector<std::string> stdin_;    ///< options that read standard input
  std::vector<std::string> refused_;  ///< options with "-" that cannot read standard input
  std::vector<Use>
      implied_;  ///< files of a model; other options that name the file are reported first
};

}  // namespace halyard::tool
