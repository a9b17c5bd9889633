// SPDX-License-Identifier: Apache-2.0
// FrameRecord: the objects found in one frame, and their JSON and text forms.
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
#include "input/growing_file.h"

namespace halyard::tool {

/// A detection, its track, and the network's other data about it; all in upright source pixels.
struct Seen {
  Detection detection;
  std::optional<std::uint64_t> track = {};
  std::string mask = {};            ///< runs in COCO's format, of the whole image; empty: none
  std::vector<Point> outline = {};  ///< the mask's largest outline, if a writer needs it
  std::vector<Keypoint> keypoints = {};
  std::vector<Point> corners = {};  ///< the four corners of a rotated box
};

/// A class of the whole image, from a classification network.
struct SeenClass {
  std::int32_t label = 0;
  float score = 0;
};

struct FrameRecord {
  std::string source;
  std::size_t index = 0;
  Size size;  ///< of the upright image
  std::vector<Seen> seen;
  std::vector<SeenClass> classes;  ///< best first
  std::size_t left_out = 0;        ///< detections that the tracker left out because of its limit
  std::vector<std::pair<const char*, double>> timing_us;  ///< by stage, in order
};

/// Checks that --labels has as many names as the model has classes (0: unknown). Returns exit_ok,
/// or exit_failure with a message that has both numbers.
int check_label_count(std::size_t names, std::size_t classes);
/// The class's name; "class 7" if it has none.
std::string label_of(std::span<const std::string> labels, std::int32_t label);

/// One frame as a JSON object on one line.
std::string to_json(const FrameRecord& record, std::span<const std::string> labels);
/// "bus.jpg: 4 person, 1 bus".
std::string summary_line(const FrameRecord& record, std::span<const std::string> labels);
/// "  bus 87% [12.0 230.5 800.1 745.2] track 3".
std::string detail_line(const Seen& seen, std::span<const std::string> labels);

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
