// SPDX-License-Identifier: Apache-2.0
// Text of run lengths, and masks of any pixels converted to runs and outlines and back.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "halyard/polygon.h"
#include "halyard/rle.h"

namespace {
void demand(bool condition) {
  if (!condition) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace halyard;
  if (size < 3) return 0;
  const Size frame{data[0] % 64 + 1, data[1] % 64 + 1};
  const std::string_view text(reinterpret_cast<const char*>(data + 2), size - 2);
  if (const auto rle = rle_from_string(text, frame)) {
    const auto again = rle_to_string(*rle);
    demand(again.has_value() && rle_from_string(*again, frame).value_or(Rle{}) == *rle);
    std::vector<std::uint8_t> pixels;
    demand(rle_decode(*rle, pixels).has_value());
  }
  const auto width = static_cast<std::size_t>(frame.width);
  std::vector<std::uint8_t> mask(width * static_cast<std::size_t>(frame.height), 0);
  for (std::size_t i = 0; i < mask.size(); ++i)
    mask[i] = (data[2 + i / 8 % (size - 2)] >> i % 8 & 1) != 0 ? 255 : 0;
  const MaskView view{{0, 0, frame.width, frame.height}, mask.data(), width};
  Rle rle;
  std::vector<std::uint8_t> back;
  demand(rle_encode(view, frame, rle).has_value() && rle_decode(rle, back).has_value());
  demand(back == mask);
  std::vector<Polygon> outlines;
  demand(mask_polygons(view, outlines).has_value());
  demand(polygon_fill(outlines, frame, back).has_value());
  demand(back == mask);
  demand(mask_polygons(view, outlines, 2).has_value());
  return 0;
}
