// SPDX-License-Identifier: Apache-2.0
// Writes objects as a COCO results file, for `halyard val --detections` and pycocotools.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "input/coco_files.h"
#include "input/growing_file.h"
#include "output/record.h"

namespace halyard::tool {

/// One object of a results file.
struct CocoResult {
  std::int64_t image = 0;
  std::int64_t category = 0;
  std::optional<CocoBox> box = {};
  double score = 0;
  Size size = {};         ///< of the image; used with a mask
  std::string mask = {};  ///< runs as COCO writes them; empty: none
  std::string file = {};  ///< of the image; empty: not written
  std::optional<std::uint64_t> track = {};
  std::vector<CocoKeypoint> keypoints = {};
  std::vector<CocoPoint> corners = {};
};
/// {"image_id", "category_id", "score"}, and if present "bbox", "segmentation", "keypoints", "poly"
/// (x and y of four corners), "track_id", "file_name"; on one line.
std::string to_json(const CocoResult& result);

/// The ids of images and classes in a results file.
class CocoIds {
 public:
  /// Without a ground truth: image_id is the frame's number from 1, category_id the class's number
  /// from 1.
  CocoIds() = default;
  /// The ids of a ground truth. Images are found by file name, with as many of its folders as the
  /// ground truth has; classes by match_labels(). Errors: as read_truth(); malformed (an image
  /// without a name, a duplicate name), invalid_argument (classes that do not match).
  static Result<CocoIds> from_truth(const std::string& path,
                                    const std::vector<std::string>& labels);

  /// Errors: not_found (no image of this name).
  Result<std::int64_t> image(const FrameRecord& record) const;
  /// Nullopt if the ground truth has no such category.
  std::optional<std::int64_t> category(std::int32_t label) const;

 private:
  bool has_truth_ = false;
  std::unordered_map<std::string, std::int64_t> images_;
  std::vector<std::optional<std::int64_t>> categories_;
};

/// The file is valid after each frame.
class CocoWriter final : public RecordWriter {
 public:
  /// "-" is standard output. Errors: as OutputFile::create().
  static Result<CocoWriter> create(const std::string& path, CocoIds ids);
  /// Errors: also those of CocoIds::image().
  Status add(const FrameRecord& record) override;
  Status finish() override { return file_.finish(); }

 private:
  CocoWriter(GrowingFile file, CocoIds ids) : file_(std::move(file)), ids_(std::move(ids)) {}
  GrowingFile file_;
  CocoIds ids_;
};

}  // namespace halyard::tool
