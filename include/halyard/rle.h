// SPDX-License-Identifier: Apache-2.0
// Masks as COCO stores them: run lengths along columns, and the text form that pycocotools writes.
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

/// A binary mask of a whole frame. The pixels are taken column by column, top to bottom, left to
/// right, as runs of 0, 1, 0, ... Only the first run may be empty; the sum of all runs is width x
/// height. All functions here return such masks, and refuse any other.
struct Rle {
  Size size;
  std::vector<std::uint32_t> counts;
  friend bool operator==(const Rle&, const Rle&) = default;
};

/// Encodes the pixels of `mask` that are not 0, in a frame of `size`. Reuses the memory of `out`.
/// Errors: invalid_argument (a frame without pixels or with too many; a region outside the frame).
Status rle_encode(const MaskView& mask, Size size, Rle& out);
/// Decodes to 0 and 255, in rows of size.width bytes. Errors: malformed.
Status rle_decode(const Rle& rle, std::vector<std::uint8_t>& out);

/// Returns `counts` as pycocotools writes it: six bits per character, from '0' on; from the third
/// run on, the difference to the run two before. Errors: malformed.
Result<std::string> rle_to_string(const Rle& rle);
/// The reverse. Errors: malformed (a character or run that is not valid; the runs do not fill the
/// frame), invalid_argument (size).
Result<Rle> rle_from_string(std::string_view counts, Size size);

/// Number of set pixels. Errors of these three functions: malformed.
Result<std::uint64_t> rle_area(const Rle& rle);
/// The smallest region that contains all set pixels; empty for an empty mask.
Result<Region> rle_bounds(const Rle& rle);
/// Intersection over union. With `is_crowd` intersection over the area of `a` alone, as COCO
/// compares detections with crowds. 0 if no pixel is set. Errors: also invalid_argument (different
/// frames).
Result<double> rle_iou(const Rle& a, const Rle& b, bool is_crowd = false);
/// Union of all masks, or their intersection. Errors: malformed, invalid_argument (no masks,
/// different frames).
Result<Rle> rle_merge(std::span<const Rle> masks, bool intersect = false);

}  // namespace halyard
HALYARD_EXPORTS_END
