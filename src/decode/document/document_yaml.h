// SPDX-License-Identifier: Apache-2.0
// Parses YAML documents.
#pragma once

#include <string_view>

#include "decode/document/document.h"

namespace halyard::decode {

/// Parses YAML within DocumentLimits. Errors: as parse_json(), with line and column. Values are
/// counted after aliases are resolved. Texts are too: together they can be as long as a JSON
/// document.
Result<Tree> parse_yaml(std::string_view text);

}  // namespace halyard::decode
