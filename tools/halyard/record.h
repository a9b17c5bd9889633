// SPDX-License-Identifier: Apache-2.0
// FrameRecord: what the program found in one frame, and its JSON and text forms.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halyard/detection.h"
#include "halyard/geometry.h"
#include "halyard/result.h"
#include "paths.h"

namespace halyard::tool {

/// A detection in upright source pixels, the track it belongs to, and its mask.
struct Seen {
  Detection detection;
  std::optional<std::uint64_t> track = {};
  std::string mask = {};  ///< runs as COCO writes them, of the whole picture; empty: none
};

struct FrameRecord {
  std::string source;
  std::size_t index = 0;
  Size size;  ///< of the upright picture
  std::vector<Seen> seen;
  std::size_t left_out = 0;  ///< detections that the tracker's limit keeps from it
  std::vector<std::pair<const char*, double>> timing_us;  ///< by stage, in order
};

/// Whether --labels names as many classes as the model has (0: it does not say); exit_ok, or
/// exit_failure with a message that tells both numbers.
int check_label_count(std::size_t names, std::size_t classes);
/// The class's name, "class 7" where there is none.
std::string label_of(std::span<const std::string> labels, std::int32_t label);

/// One frame as a JSON object on one line.
std::string to_json(const FrameRecord& record, std::span<const std::string> labels);
/// "bus.jpg: 4 person, 1 bus".
std::string summary_line(const FrameRecord& record, std::span<const std::string> labels);
/// "  bus 87% [12.0 230.5 800.1 745.2] track 3".
std::string detail_line(const Seen& seen, std::span<const std::string> labels);

/// Writes {"frames": [...]} one frame at a time, so that a long run needs no memory for it. From
/// the first frame on the file has its name, and it is whole after each: a run that is killed
/// leaves the frames until then. A pipe or device gets the end with finish().
class JsonWriter {
 public:
  /// "-" is standard output. Errors: as OutputFile::create().
  static Result<JsonWriter> create(const std::string& path);
  Status add(const FrameRecord& record, std::span<const std::string> labels);
  Status finish();

 private:
  explicit JsonWriter(OutputFile file) : file_(std::move(file)) {}
  OutputFile file_;
  bool has_frames_ = false;
};

}  // namespace halyard::tool
