// SPDX-License-Identifier: Apache-2.0
// Parses and writes the text files of MOTChallenge.
#include "input/mot_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "input/input_file.h"

namespace halyard::tool {
namespace {

constexpr double max_frames = 10'000'000;
constexpr std::size_t max_truth = 2048;  // of one frame: each is compared with each track's box

/// Ids of the truth read so far, with their frames.
using Known = std::set<std::pair<std::size_t, std::int64_t>>;

Error bad_line(std::size_t line, const char* what, std::string_view seen) {
  return make_error(Errc::malformed, what,
                    fmt::format("line {}: {}", line, std::string(seen.substr(0, 60))));
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

/// The first numbers of a line, at most seven, and their count.
struct Numbers {
  std::array<double, 7> value{};
  std::size_t count = 0;
};

Result<Numbers> numbers_of(std::string_view line, std::size_t number) {
  Numbers out;
  for (std::string_view rest = line; out.count < out.value.size();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view field = trimmed(rest.substr(0, comma));
    double& value = out.value[out.count++];
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size() || !std::isfinite(value))
      return bad_line(number, "numbers with commas between them are expected", line);
    if (comma == rest.size()) break;
    rest.remove_prefix(comma + 1);
  }
  return out;
}

Status add_line(std::string_view line, std::size_t number, MotKind kind, Known& known,
                MotFrames& frames) {
  HALYARD_TRY(const Numbers n, numbers_of(line, number));
  const auto& v = n.value;
  if (n.count < (kind == MotKind::detections ? 7U : 6U))
    return bad_line(number, "frame,id,left,top,width,height,score is expected", line);
  if (v[0] < 1 || v[0] > max_frames || v[0] != std::floor(v[0]))
    return bad_line(number, "frame: must be a whole number in 1..10000000", line);
  if (!(v[4] > 0 && v[5] > 0)) return bad_line(number, "width, height: must be above 0", line);
  if (kind == MotKind::detections && !(v[6] >= 0 && v[6] <= 1))
    return bad_line(number, "score: must be in [0, 1]", line);
  if (kind == MotKind::truth && n.count > 6 && v[6] == 0) return {};
  if (std::abs(v[1]) > 1e15 || v[1] != std::floor(v[1]))
    return bad_line(number, "id: must be a whole number", line);
  const MotBox box{static_cast<std::int64_t>(v[1]), v[2], v[3], v[4], v[5], n.count > 6 ? v[6] : 1};
  const auto index = static_cast<std::size_t>(v[0]) - 1;
  if (kind == MotKind::truth && !known.emplace(index, box.id).second)
    return bad_line(number, "id: at most once in a frame", line);
  auto& frame = frames[index];
  if (kind == MotKind::truth && frame.size() == max_truth)
    return bad_line(number, "frame: has at most 2048 boxes of the truth", line);
  frame.push_back(box);
  return {};
}

}  // namespace

std::size_t frame_count(const MotFrames& frames) noexcept {
  return frames.empty() ? 0 : frames.rbegin()->first + 1;
}

std::size_t box_count(const MotFrames& frames) noexcept {
  std::size_t count = 0;
  for (const auto& [index, boxes] : frames)
    count += boxes.size();
  return count;
}

Result<MotFrames> parse_mot(std::string_view text, MotKind kind) {
  MotFrames frames;
  Known known;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (!line.empty()) HALYARD_RETURN_IF_ERROR(add_line(line, number, kind, known, frames));
  }
  return frames;
}

Result<MotFrames> read_mot(const std::string& path, MotKind kind) {
  HALYARD_TRY(const auto bytes, read_path(path, std::size_t{1} << 30));
  return parse_mot({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, kind);
}

std::string mot_line(std::size_t frame, const MotBox& box) {
  return fmt::format("{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.6g},-1,-1,-1\n", frame, box.id, box.left,
                     box.top, box.width, box.height, box.score);
}

}  // namespace halyard::tool
