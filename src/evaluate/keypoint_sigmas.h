// SPDX-License-Identifier: Apache-2.0
// The keypoints of each category of a file in COCO's format: how many, and how exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "evaluate/coco_fields.h"

namespace halyard::evaluate {

/// Empty if an object has as many keypoints as its category.
Problem check_keypoint_count(std::size_t count, std::size_t wanted);

class KeypointSigmas {
 public:
  /// Reads `keypoints`, the names, and `sigmas` of a category.
  Problem read(const Json& category, std::int64_t id);
  /// Whether an annotation does not take part: it has no keypoints, and its category lists none
  /// while another does.
  bool leaves_out(const Json& annotation, std::int64_t category) const;
  /// Compares the count with that of the category, which is its names', its sigmas' or its first
  /// annotation's.
  Problem check_count(std::int64_t category, std::size_t count);
  /// The sigmas of the document; else of COCO's 17 keypoints, or 1/n for each of n.
  std::vector<double> of(std::int64_t category) const;

 private:
  struct Known {
    std::size_t count = 0;
    std::vector<double> sigmas;
  };
  std::map<std::int64_t, Known> known_;
  bool has_names_ = false;
};

}  // namespace halyard::evaluate
