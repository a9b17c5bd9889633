// SPDX-License-Identifier: Apache-2.0
// The word that somebody meant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace halyard::tool {

/// Of `words` the one that is nearest to `word` by single letters that are put in, left out,
/// changed or swapped with the next, upper case or not; of equals the first. Nothing where more
/// than a third of the letters would change.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> words);

/// "; did you mean X?", or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> words);

/// "a, b or c".
std::string listed(std::span<const std::string> words);

}  // namespace halyard::tool
