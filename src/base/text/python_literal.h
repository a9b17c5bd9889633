// SPDX-License-Identifier: Apache-2.0
// Reads the Python dict literals that exporters write into model files. Not a full parser: it reads
// strings and keeps anything else as text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halyard {

/// One entry of a dict or list; the key of a list entry is its position.
struct LiteralItem {
  std::string key;
  std::string value;  ///< strings unquoted, nested values as their text
};

/// Splits "{k: v, ...}" or "[v, ...]" at its top level. Nullopt if the text is neither.
std::optional<std::vector<LiteralItem>> split_literal(std::string_view text);

/// Class names from "{0: 'boat', 1: 'buoy'}" or "['boat', 'buoy']". A missing index gets an empty
/// name. Empty if the text is neither, or an index is above 65535.
std::vector<std::string> parse_names(std::string_view text);

}  // namespace halyard
