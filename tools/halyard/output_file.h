// SPDX-License-Identifier: Apache-2.0
// OutputFile: text that grows while the program works and gets its name when it is whole.
#pragma once

#include <string>
#include <string_view>

#include "halyard/fd.h"
#include "halyard/result.h"

namespace halyard::tool {

/// A name beside `path` for a file that is not complete yet; unique to this process.
std::string partial_name(const std::string& path);

/// Renames a complete file to its name. Errors: permission, not_found, os.
Status publish(const std::string& partial, const std::string& path);

/// Writes beside the target and renames at commit(); "-" and existing devices or pipes are written
/// directly. Without commit() the partial file is removed. Thread-bound.
class OutputFile {
 public:
  /// Errors: permission, not_found, os.
  static Result<OutputFile> create(const std::string& path);
  OutputFile(OutputFile&&) noexcept = default;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// Errors: os (disk full, closed pipe).
  Status write(std::string_view text);
  Status commit();

 private:
  OutputFile() = default;
  Status flush();
  Fd fd_;
  std::string path_;
  std::string partial_;  // empty: written directly
  std::string pending_;
};

}  // namespace halyard::tool
