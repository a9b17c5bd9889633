// SPDX-License-Identifier: Apache-2.0
// UTF-8 to code points. Never fails: bytes that are not UTF-8 become U+FFFD.
#pragma once

#include <cstddef>
#include <string_view>

namespace halyard::draw {

inline constexpr char32_t replacement_character = 0xFFFD;

/// Removes one code point from the front of `text`, which must not be empty. An invalid byte, an
/// overlong form, a surrogate or a truncated sequence returns U+FFFD and removes one byte.
inline char32_t next_code_point(std::string_view& text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  constexpr unsigned char lead_mask[5] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  constexpr char32_t minimum[5] = {0, 0, 0x80, 0x800, 0x10000};
  bool valid = length > 0 && length <= text.size();
  char32_t code = valid ? lead & lead_mask[length] : 0;
  for (std::size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xC0) == 0x80;
    code = (code << 6) | (byte(i) & 0x3F);
  }
  valid =
      valid && code >= minimum[length] && code <= 0x10FFFF && !(code >= 0xD800 && code < 0xE000);
  text.remove_prefix(valid ? length : 1);
  return valid ? code : replacement_character;
}

}  // namespace halyard::draw
