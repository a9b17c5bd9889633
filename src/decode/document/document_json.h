// SPDX-License-Identifier: Apache-2.0
// Documents in JSON.
#pragma once

#include <string_view>

#include "decode/document/document.h"

namespace halyard::decode {

/// DocumentLimits hold. Errors: malformed (message with the line and byte), invalid_argument (a key
/// that stands twice in a map; message with its path), exhausted (too long).
Result<Tree> parse_json(std::string_view text);

}  // namespace halyard::decode
