// SPDX-License-Identifier: Apache-2.0
// Checks of the texts that C callers pass.
#include "capi/arguments.h"

namespace halyard::capi {
namespace {

// Bytes of the UTF-8 sequence at the front of `text`; 0 if there is none. Overlong forms and
// surrogates are invalid.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xC2   ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool outside = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return overlong || outside ? 0 : length;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Result<std::string> path_from(const char* path) {
  if (path == nullptr) return null_argument("path: is NULL");
  if (*path == '\0') return null_argument("path: is empty");
  if (!is_utf8(path)) return null_argument("path: is not UTF-8");
  return std::string(path);
}

}  // namespace halyard::capi
