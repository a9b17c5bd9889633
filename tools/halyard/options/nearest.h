// SPDX-License-Identifier: Apache-2.0
// Finds the word that the user probably meant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace halyard::tool {

/// The word of `words` nearest to `word`, by the count of single letters inserted, removed, changed
/// or swapped with the next; case is ignored. The first one in a tie. Nullopt if more than a third
/// of the letters would change.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> words);

/// "; did you mean X?", or an empty text.
std::string did_you_mean(std::string_view word, std::span<const std::string> words);

/// "a, b or c".
std::string listed(std::span<const std::string> words);

}  // namespace halyard::tool
