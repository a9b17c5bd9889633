// SPDX-License-Identifier: Apache-2.0
// Optimal string alignment distance: Damerau-Levenshtein in which no letter moves twice.
#include "options/nearest.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace halyard::tool {
namespace {

constexpr std::size_t max_letters = 64;  // longer words are not typing errors

char in_lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool is_same = in_lower_case(a[i - 1]) == in_lower_case(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (is_same ? 0 : 1)});
      const bool is_swapped = i > 1 && j > 1 &&
                              in_lower_case(a[i - 1]) == in_lower_case(b[j - 2]) &&
                              in_lower_case(a[i - 2]) == in_lower_case(b[j - 1]);
      if (is_swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> words) {
  const std::string* best = nullptr;
  std::size_t minimum = std::numeric_limits<std::size_t>::max();
  for (const std::string& each : words) {
    if (word.size() > max_letters || each.size() > max_letters) continue;
    const std::size_t its = distance(word, each);
    const std::size_t maximum = std::max<std::size_t>(1, std::max(word.size(), each.size()) / 3);
    if (its < minimum && its <= maximum) minimum = its, best = &each;
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> words) {
  const auto meant = nearest(word, words);
  return meant ? "; did you mean " + *meant + "?" : std::string();
}

std::string listed(std::span<const std::string> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

}  // namespace halyard::tool
