// SPDX-License-Identifier: Apache-2.0
// Shared by the JSON and YAML parsers: their errors, and the limit of the length.
#pragma once

#include <string_view>

#include "base/text/format_error.h"

namespace halyard::decode {

inline constexpr char twice[] = "description: a key appears twice";
inline constexpr char too_deep[] = "lists and maps nest deeper than {}";
inline constexpr char too_large[] = "more than {} values, aliases resolved";

/// "YAML, line 3 column 7: why"; `why` is cut to 200 characters.
inline Error malformed(std::string_view language, std::size_t line, std::string_view position,
                       std::string_view why) {
  constexpr std::size_t longest_reason = 200;
  return fail(Errc::malformed, "description: the text does not parse", "{}, line {}{}: {}",
              language, line, position, why.substr(0, longest_reason));
}

inline Status check_size(std::string_view text, std::size_t maximum) {
  if (text.size() <= maximum) return {};
  return fail(Errc::exhausted, "description: the text is too long", "{} bytes, at most {} MiB",
              text.size(), maximum >> 20);
}

}  // namespace halyard::decode
