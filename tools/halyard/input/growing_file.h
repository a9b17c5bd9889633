// SPDX-License-Identifier: Apache-2.0
// GrowingFile: a text file that is valid after each part, so that a killed run leaves all results
// so far.
#pragma once

#include <string>
#include <string_view>

#include "halyard/output_file.h"

namespace halyard::tool {

/// The file has its final name after the first part. A pipe or device gets the end only from
/// finish(). Thread-bound.
class GrowingFile {
 public:
  /// The texts around the parts; literals.
  struct Shape {
    std::string_view head;
    std::string_view separator;
    std::string_view end;
  };
  /// "-" is standard output. Errors: as OutputFile::create().
  static Result<GrowingFile> create(const std::string& path, const Shape& shape);
  /// Adds a part. An empty part only creates the file. Errors: as OutputFile::write().
  Status add(std::string_view part);
  Status finish();

 private:
  GrowingFile(OutputFile file, const Shape& shape) : file_(std::move(file)), shape_(shape) {}
  OutputFile file_;
  Shape shape_;
  bool is_begun_ = false;
  bool has_parts_ = false;
};

}  // namespace halyard::tool
