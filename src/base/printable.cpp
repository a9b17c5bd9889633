// SPDX-License-Identifier: Apache-2.0
// printable(): one pass over the UTF-8.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "halyard/log.h"

namespace halyard {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};
// Beyond ASCII: C1, directional marks, separators, embeddings and overrides, isolates, and the mark
// that some readers take for the start of a file.
constexpr std::array<Range, 6> unsafe = {{{0x80, 0x9f},
                                          {0x61c, 0x61c},
                                          {0x200e, 0x200f},
                                          {0x2028, 0x202e},
                                          {0x2066, 0x2069},
                                          {0xfeff, 0xfeff}}};

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// The character at the front: shortest form, no surrogate, at most U+10FFFF.
Character character_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, bytes};
}

bool is_unsafe(char32_t code) {
  return std::any_of(unsafe.begin(), unsafe.end(),
                     [&](const Range& r) { return code >= r.first && code <= r.last; });
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = character_at(text);
    if (c.bytes == 0 || c.code < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (c.code == 0x7f || is_unsafe(c.code)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<std::uint32_t>(c.code));
    } else {
      out += text.substr(0, c.bytes);
    }
    text.remove_prefix(std::max<std::size_t>(c.bytes, 1));
  }
  return out;
}

}  // namespace halyard
