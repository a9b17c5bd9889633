// SPDX-License-Identifier: Apache-2.0
// The first bytes of a text for a message, never cut within a character.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace halyard {

/// The first `max_bytes` bytes of a UTF-8 text, or up to 3 fewer if a character would be cut. A
/// text that is not UTF-8 may be cut anywhere.
constexpr std::string_view cut_text(std::string_view text, std::size_t max_bytes) noexcept {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  for (std::size_t i = 0; i < std::min<std::size_t>(max_bytes, 3); ++i, --end) {
    // The first byte after the end must start a character.
    if ((static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U) return text.substr(0, end);
  }
  if ((static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U) return text.substr(0, end);
  return text.substr(0, max_bytes);
}

}  // namespace halyard
