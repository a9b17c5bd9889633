// SPDX-License-Identifier: Apache-2.0
// Text of MOTChallenge: refused with the line, or boxes within their ranges, which are the same
// after they are written and read again. The first byte selects detections or truth.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/source.h"
#include "input/mot_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace halyard;
  using fuzz::expect;
  if (size == 0) return 0;
  const auto kind = data[0] % 2 == 0 ? tool::MotKind::detections : tool::MotKind::truth;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto frames = tool::parse_mot(text, kind);
  if (!frames) {
    expect(frames.error().code == Errc::malformed);
    expect(frames.error().message().find("line ") != std::string::npos);
    return 0;
  }
  std::string lines;
  std::size_t boxes = 0;
  for (const auto& [i, list] : *frames) {
    for (const tool::MotBox& box : list) {
      ++boxes;
      expect(std::isfinite(box.left) && std::isfinite(box.top) && std::isfinite(box.score));
      expect(box.width > 0 && box.height > 0 && std::isfinite(box.width + 0 * box.height));
      expect(kind == tool::MotKind::truth || (box.score >= 0 && box.score <= 1));
      // Three digits are written: the thinnest boxes have no extent then.
      if (box.width >= 0.001 && box.height >= 0.001) lines += tool::mot_line(i + 1, box);
    }
  }
  expect(boxes <= size);
  expect(tool::parse_mot(lines, kind).has_value());
  return 0;
}
