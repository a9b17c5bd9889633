// SPDX-License-Identifier: Apache-2.0
// Text files of MOTChallenge: one box a line, `frame,id,left,top,width,height,score,...`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/result.h"

namespace halyard::tool {

/// A box of one frame, in pixels. Doubles, so that a file is read as it stands.
struct MotBox {
  std::int64_t id = -1;
  double left = 0;
  double top = 0;
  double width = 0;   ///< above 0
  double height = 0;  ///< above 0
  double score = 1;   ///< 1 where the file has none
};

/// Boxes of the frames that have some, by index from 0; index 0 is frame 1. Frames are numbered up
/// to ten million, so those without boxes take no memory.
using MotFrames = std::map<std::size_t, std::vector<MotBox>>;

/// Frames up to the last one that has a box.
std::size_t frame_count(const MotFrames& frames) noexcept;
std::size_t box_count(const MotFrames& frames) noexcept;

/// - detections: ids are not looked at, scores must be there and in [0, 1];
/// - truth: an id at most once in a frame, at most 2048 boxes in one; lines whose seventh number is
/// 0 are left out, as
///   MOTChallenge marks what does not count.
enum class MotKind : std::uint8_t { detections, truth };

/// Errors: malformed (names the line: fewer than six numbers, or seven for detections; text that is
/// no number; a frame that is no whole number in 1..10000000; an empty or endless box; a score
/// outside; an id twice).
Result<MotFrames> parse_mot(std::string_view text, MotKind kind);
/// Errors also those of read_file.
Result<MotFrames> read_mot(const std::string& path, MotKind kind);

/// One line, with the three numbers that close it.
std::string mot_line(std::size_t frame, const MotBox& box);

}  // namespace halyard::tool
