// SPDX-License-Identifier: Apache-2.0
// Documents in YAML.
#pragma once

#include <string_view>

#include "decode/document/document.h"

namespace halyard::decode {

/// The same, with the line and column; nodes are counted after aliases are resolved, and texts too:
/// together they may be as long as a JSON document.
Result<Tree> parse_yaml(std::string_view text);

}  // namespace halyard::decode
