// SPDX-License-Identifier: Apache-2.0
// Lines of text about a frame's objects, and the writer of its JSON.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halyard/frame_record.h"
#include "halyard/result.h"
#include "input/growing_file.h"

namespace halyard::tool {

/// Checks that --labels has as many names as the model has classes (0: unknown). Returns exit_ok,
/// or exit_failure with a message that has both numbers.
int check_label_count(std::size_t names, std::size_t classes);
/// "bus.jpg: 4 person, 1 bus".
std::string summary_line(const FrameRecord& record, std::span<const std::string> labels);
/// "  bus 87% [12.0 230.5 800.1 745.2] track 3".
std::string detail_line(const FrameObject& object, std::span<const std::string> labels);

/// A writer that is called for each frame.
class RecordWriter {
 public:
  virtual ~RecordWriter() = default;
  /// Frames come in order. Errors: as OutputFile.
  virtual Status add(const FrameRecord& record) = 0;
  virtual Status finish() = 0;
};

/// Writes {"frames": [...]} frame by frame, so that a long run needs no memory for it. The file is
/// valid after each frame: GrowingFile.
class JsonWriter final : public RecordWriter {
 public:
  /// "-" is standard output. Errors: as OutputFile::create().
  static Result<JsonWriter> create(const std::string& path, std::vector<std::string> labels);
  Status add(const FrameRecord& record) override;
  Status finish() override { return file_.finish(); }

 private:
  JsonWriter(GrowingFile file, std::vector<std::string> labels)
      : file_(std::move(file)), labels_(std::move(labels)) {}
  GrowingFile file_;
  std::vector<std::string> labels_;
};

}  // namespace halyard::tool
