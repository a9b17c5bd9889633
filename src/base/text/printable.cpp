// SPDX-License-Identifier: Apache-2.0
// printable(): one pass over the UTF-8.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "base/text/utf8.h"
#include "halyard/log.h"

namespace halyard {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};
// Beyond ASCII: C1, directional marks, separators, embeddings and overrides, isolates, and the byte
// order mark.
constexpr std::array<Range, 6> unsafe = {{{0x80, 0x9f},
                                          {0x61c, 0x61c},
                                          {0x200e, 0x200f},
                                          {0x2028, 0x202e},
                                          {0x2066, 0x2069},
                                          {0xfeff, 0xfeff}}};

bool is_unsafe(char32_t code) {
  return std::any_of(unsafe.begin(), unsafe.end(),
                     [&](const Range& r) { return code >= r.first && code <= r.last; });
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character c = utf8_character(text);
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
