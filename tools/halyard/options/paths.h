// SPDX-License-Identifier: Apache-2.0
// The files of a command line: none may be written that is read, or written twice.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "halyard/output_file.h"

namespace halyard::tool {

/// An output file; "-" is standard output. Errors: as OutputFile.
Result<OutputFile> open_output(const std::string& path);

/// Collects the paths of all options, then compares them by what they lead to: device and inode,
/// and for files that do not exist yet those of the folder, with the rest of the name. Links are
/// followed, so two names of one file are one. A character device may serve any number of options.
/// An empty path is an option that was not given. `option` is how messages name it.
class PathCheck {
 public:
  /// A file to read; standard input ("-") is refused.
  PathCheck& input(const std::string& option, const std::string& path);
  /// The same, but "-" is standard input.
  PathCheck& stream_input(const std::string& option, const std::string& path);
  /// An image or video, or a folder of images; "-" is standard input.
  PathCheck& frames(const std::string& option, const std::string& path);
  /// A folder whose files are read, those of folders inside too.
  PathCheck& input_tree(const std::string& option, const std::string& path);
  /// A model, and the files beside it that are read with it: files_of_model().
  PathCheck& model(const std::string& option, const std::string& path);
  /// A file to write.
  PathCheck& output(const std::string& option, const std::string& path);
  /// The same, but "-" is standard output.
  PathCheck& stream_output(const std::string& option, const std::string& path);
  /// A folder to write images to that are named after frames().
  PathCheck& output_folder(const std::string& option, const std::string& path);

  /// A folder to write texts to: no name in it may be a link to an input.
  PathCheck& text_folder(const std::string& option, const std::string& path);

  /// Reports the first clash, or two options that read standard input, naming both options; exit_ok
  /// or exit_usage. Reads the file system.
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
  std::vector<std::string> refused_;  ///< options that would, and cannot
  std::vector<Use> implied_;  ///< by a model: another option that names the file is told of first
};

}  // namespace halyard::tool
