// SPDX-License-Identifier: Apache-2.0
// Natural order of file names: "frame9" before "frame10".
#pragma once

#include <algorithm>
#include <string_view>

namespace halyard::capture {

/// Compares runs of digits as numbers of any length, and everything else by its bytes. Names that
/// differ only in leading zeros are compared by their bytes, so that the order is total.
inline bool natural_less(std::string_view a, std::string_view b) noexcept {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto take_number = [&](std::string_view text, std::size_t& at) {
    while (at < text.size() && text[at] == '0')
      ++at;
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at]))
      ++at;
    return text.substr(begin, at - begin);
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view x = take_number(a, i);
      const std::string_view y = take_number(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      const auto x = static_cast<unsigned char>(a[i++]);
      const auto y = static_cast<unsigned char>(b[j++]);
      if (x != y) return x < y;
    }
  }
  const std::size_t rest_a = a.size() - i;
  const std::size_t rest_b = b.size() - j;
  return rest_a != rest_b ? rest_a < rest_b : a < b;
}

}  // namespace halyard::capture
