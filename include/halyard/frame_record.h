// SPDX-License-Identifier: Apache-2.0
// FrameRecord: the objects of one frame in a form for files and other programs, and its JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halyard/decode.h"
#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/pipeline.h"
#include "halyard/placement.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// A detection, its track, and the network's other data about it; all in pixels of the upright
/// image.
struct FrameObject {
  Detection detection;
  std::optional<std::uint64_t> track = {};
  std::string mask = {};            ///< runs in COCO's format, of the whole image; empty: none
  std::vector<Point> outline = {};  ///< the mask's largest outline, if it was asked for
  std::vector<Keypoint> keypoints = {};
  std::vector<Point> corners = {};  ///< the four corners of a rotated box
};

struct FrameRecord {
  std::string source;
  std::size_t index = 0;
  Size size;  ///< of the upright image
  std::vector<FrameObject> objects;
  std::vector<ClassScore> classes;  ///< of the whole image, best first
  std::size_t left_out = 0;         ///< detections that the tracker left out because of its limit
  std::vector<std::pair<const char*, double>> timing_us;  ///< by stage, in order
};

struct RecordOptions {
  bool has_masks = false;     ///< of ModelResult::masks
  bool has_outlines = false;  ///< needs has_masks; within half a pixel of the mask
};

/// Fills record.objects, except tracks and masks, and record.classes. `found` are
/// decoded.detections in the frame's pixels. `placement` maps keypoints and corners to these
/// pixels; null: they are not mapped.
void fill_objects(const Decoded& decoded, std::span<const Detection> found,
                  const Placement* placement, FrameRecord& record);

/// Fills the record of what one model found in a frame. Errors: invalid_argument (no such model),
/// those of rle_encode() and mask_polygons().
Status make_record(const PipelineFrame& frame, std::size_t model, const RecordOptions& options,
                   FrameRecord& record);

/// Sets record.timing_us to the times of the frame's stages so far.
void fill_times(const PipelineFrame& frame, FrameRecord& record);

/// The class's name; "class 7" if it has none.
std::string label_of(std::span<const std::string> labels, std::int32_t label);

/// The frame as a JSON object on one line (docs/json.md, "frame"): keys are added, never renamed.
/// Numbers have at most 4 decimals; text is printable, and valid UTF-8.
std::string to_json(const FrameRecord& record, std::span<const std::string> labels);

}  // namespace halyard
HALYARD_EXPORTS_END
