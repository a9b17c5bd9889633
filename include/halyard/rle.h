// SPDX-License-Identifier: Apache-2.0
// Masks as COCO stores them: run lengths down the columns, and the text that pycocotools writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/mask.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// A binary mask of a whole frame: pixels column by column, top to bottom, left to right, as runs
/// of 0, 1, 0, ... The first run may be empty, no other is; the sum is width x height. Those
/// that these calls give are so; rle_decode() and the others refuse what is not.
struct Rle {
  Size size;
  std::vector<std::uint32_t> counts;
  friend bool operator==(const Rle&, const Rle&) = default;
};

/// The pixels of `mask` that are not 0, in a frame of `size`. Reuses the memory of `out`. Errors:
/// invalid_argument (a frame of no or too many pixels, a region outside).
Status rle_encode(const MaskView& mask, Size size, Rle& out);
/// 0 and 255, rows of size.width bytes. Errors: malformed.
Status rle_decode(const Rle& rle, std::vector<std::uint8_t>& out);

/// `counts` as pycocotools writes it: six bits a character from '0' on, from the third run on as
/// the difference to the run two before. Errors: malformed.
Result<std::string> rle_to_string(const Rle& rle);
/// The way back. Errors: malformed (a character or run that cannot be; the runs do not fill the
/// frame), invalid_argument (size).
Result<Rle> rle_from_string(std::string_view counts, Size size);

/// Pixels that are set. Errors of these three: malformed.
Result<std::uint64_t> rle_area(const Rle& rle);
/// The smallest region with all set pixels; empty for an empty mask.
Result<Region> rle_bounds(const Rle& rle);
/// Intersection over union; with `is_crowd` over the area of `a` alone, as COCO judges detections
/// against crowds. 0 where nothing is set. Errors: also invalid_argument (different frames).
Result<double> rle_iou(const Rle& a, const Rle& b, bool is_crowd = false);
/// Union of all masks, or their intersection. Errors: malformed, invalid_argument (no masks,
/// different frames).
Result<Rle> rle_merge(std::span<const Rle> masks, bool intersect = false);

}  // namespace halyard
HALYARD_EXPORTS_END
