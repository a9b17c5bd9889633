// SPDX-License-Identifier: Apache-2.0
// Decoding of UTF-8 that comes from outside, character by character: strict, or with replacements.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace halyard {

struct Utf8Character {
  char32_t code = 0;
  std::size_t bytes = 0;  ///< 0: not UTF-8
};

/// Decodes the character at the front of `text`, which must not be empty. Accepts the shortest form
/// only, no surrogates, at most U+10FFFF.
inline Utf8Character utf8_character(std::string_view text) noexcept {
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
  constexpr std::array<char32_t, 5> minimum = {0, 0, 0x80, 0x800, 0x10000};
  if (code < minimum[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, bytes};
}

inline constexpr char32_t replacement_character = 0xFFFD;

/// Removes one code point from the front of `text`, which must not be empty. An invalid byte, an
/// overlong form, a surrogate or a truncated sequence returns U+FFFD and removes one byte.
inline char32_t next_code_point(std::string_view& text) noexcept {
  const Utf8Character character = utf8_character(text);
  const bool is_valid = character.bytes != 0;
  text.remove_prefix(is_valid ? character.bytes : 1);
  return is_valid ? character.code : replacement_character;
}

/// Whether the whole text is UTF-8; true for an empty text.
inline bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t bytes = utf8_character(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace halyard
