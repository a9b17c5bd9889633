// SPDX-License-Identifier: Apache-2.0
#include "capture/encode/annex_b.h"

namespace halyard::capture {
namespace {

constexpr std::size_t start_code_bytes = 3;  // 00 00 01

// Where the next start code is; the size of `stream` if there is none.
std::size_t find_start_code(std::span<const std::uint8_t> stream) noexcept {
  for (std::size_t i = 0; i + start_code_bytes <= stream.size();) {
    const std::uint8_t third = stream[i + 2];
    if (third > 1) {
      i += start_code_bytes;  // no start code has it
    } else if (third == 1 && stream[i] == 0 && stream[i + 1] == 0) {
      return i;
    } else {
      ++i;
    }
  }
  return stream.size();
}

}  // namespace

std::span<const std::uint8_t> next_unit(std::span<const std::uint8_t>& stream) noexcept {
  for (;;) {
    const std::size_t start = find_start_code(stream);
    if (start == stream.size()) break;
    stream = stream.subspan(start + start_code_bytes);
    const std::size_t end = find_start_code(stream);
    auto unit = stream.first(end);
    stream = stream.subspan(end);
    while (!unit.empty() && unit.back() == 0)
      unit = unit.first(unit.size() - 1);
    if (!unit.empty()) return unit;
  }
  stream = {};
  return {};
}

}  // namespace halyard::capture
