// SPDX-License-Identifier: Apache-2.0
// Shapes of an object in a file in COCO's format: masks, keypoints, rotated boxes.
#pragma once

#include <array>
#include <vector>

#include "evaluate/coco_fields.h"
#include "halyard/evaluate.h"
#include "halyard/rle.h"

namespace halyard::evaluate {

/// `segmentation`, of the image's size. `has_polygons`: whether polygons are accepted.
Problem read_mask(const Json& record, const CocoImage& image, bool has_polygons, Rle& out);
/// Whether the record, of any type, has a segmentation.
bool has_segmentation(const Json& record);

/// `keypoints`: x, y, and visibility or score, of each.
Problem read_keypoints(const Json& record, std::vector<CocoKeypoint>& out);
/// The smallest box around keypoints, or around corners.
CocoBox box_around(const std::vector<CocoKeypoint>& points);
CocoBox box_around(const std::array<CocoPoint, 4>& corners);

/// `rbox` or `poly`, or, if `has_polygons`, a segmentation of one polygon with four corners.
Problem read_rotated_box(const Json& record, bool has_polygons, std::array<CocoPoint, 4>& out);
/// Whether the record, of any type, has one of these, checked or not.
bool has_rotated_box(const Json& record);

}  // namespace halyard::evaluate
