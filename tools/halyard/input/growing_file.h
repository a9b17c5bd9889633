// SPDX-License-Identifier: Apache-2.0
// GrowingFile: a text that is whole after each part, so that a run that is killed leaves what it
// has found until then.
#pragma once

#include <string>
#include <string_view>

#include "halyard/output_file.h"

namespace halyard::tool {

/// From the first part on the file has its name. A pipe or device gets the end with finish().
/// Thread-bound.
class GrowingFile {
 public:
  /// What stands around the parts; literals.
  struct Shape {
    std::string_view head;
    std::string_view separator;
    std::string_view end;
  };
  /// "-" is standard output. Errors: as OutputFile::create().
  static Result<GrowingFile> create(const std::string& path, const Shape& shape);
  /// An empty part makes the file be there, and no more. Errors: as OutputFile::write().
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
