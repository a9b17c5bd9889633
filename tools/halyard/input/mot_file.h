// SPDX-License-Identifier: Apache-2.0
// Text files of MOTChallenge: one box per line, `frame,id,left,top,width,height,score,...`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/result.h"

namespace halyard::tool {

/// A box of one frame, in pixels. Doubles keep the file's values exactly.
struct MotBox {
  std::int64_t id = -1;
  double left = 0;
  double top = 0;
  double width = 0;   ///< above 0
  double height = 0;  ///< above 0
  double score = 1;   ///< 1 if the file has none
};

/// Boxes of the frames that have any, by index from 0; index 0 is frame 1. Frame numbers reach ten
/// million, so frames without boxes must take no memory.
using MotFrames = std::map<std::size_t, std::vector<MotBox>>;

/// Count of frames up to the last one with a box.
std::size_t frame_count(const MotFrames& frames) noexcept;
std::size_t box_count(const MotFrames& frames) noexcept;

/// - detections: ids are ignored; scores are required and must be in [0, 1];
/// - truth: an id occurs at most once in a frame; at most 2048 boxes in a frame. Lines whose
/// seventh
///   number is 0 are left out: MOTChallenge marks ignored boxes so.
enum class MotKind : std::uint8_t { detections, truth };

/// Errors: malformed (names the line: fewer than six numbers, or fewer than seven for detections;
/// text that is not a number; a frame that is not a whole number in 1..10000000; an empty or
/// infinite box; a score out of range; a duplicate id).
Result<MotFrames> parse_mot(std::string_view text, MotKind kind);
/// Errors: those of parse_mot() and read_path().
Result<MotFrames> read_mot(const std::string& path, MotKind kind);

/// One line, with the three trailing -1 of the format.
std::string mot_line(std::size_t frame, const MotBox& box);

}  // namespace halyard::tool
