// SPDX-License-Identifier: Apache-2.0
// Files in COCO's format: what is in the pictures (instances), and what was found (results).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halyard/geometry.h"
#include "halyard/result.h"
#include "halyard/rle.h"

namespace halyard::tool {

struct CocoImage {
  std::int64_t id = 0;
  std::string file;  ///< may be empty
  Size size;         ///< {0, 0}: not told
};

struct CocoCategory {
  std::int64_t id = 0;
  std::string name;
};

/// x, y, width, height in pixels; doubles as in the file, so that ties fall as they do for others.
struct CocoBox {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

/// One object of a picture, or one that was found.
struct CocoObject {
  std::size_t image = 0;     ///< place in CocoTruth::images
  std::size_t category = 0;  ///< place in CocoTruth::categories
  CocoBox box;
  double area = 0;  ///< that decides on small, medium, large
  double score = 0;
  bool is_crowd = false;
  Rle mask;  ///< empty unless masks were asked for
};

/// Images and categories by ascending id.
struct CocoTruth {
  std::vector<CocoImage> images;
  std::vector<CocoCategory> categories;
  std::vector<CocoObject> objects;
  bool has_segmentations = false;  ///< there are annotations, and each has a segmentation
};

struct CocoResults {
  std::vector<CocoObject> objects;
  std::size_t left_out = 0;  ///< of categories that the truth does not have
};

/// Reads instances. With masks every annotation needs its segmentation (polygons, runs as numbers
/// or as text) and every image its size. Errors: not_found, permission, os, exhausted (above 1
/// GiB; masks beyond CocoLimits), malformed (no JSON: line; a value: its key path and rule).
Result<CocoTruth> read_truth(const std::string& path, bool has_masks);

/// Reads results of the same images: boxes, or with masks segmentations as runs. Errors as above.
Result<CocoResults> read_results(const std::string& path, const CocoTruth& truth, bool has_masks);

}  // namespace halyard::tool
