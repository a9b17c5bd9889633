// SPDX-License-Identifier: Apache-2.0
// Parses JSON documents.
#pragma once

#include <string_view>

#include "decode/document/document.h"

namespace halyard::decode {

/// Parses JSON within DocumentLimits. Errors: malformed (message with line and byte),
/// invalid_argument (a key appears twice in a map; message with its path), exhausted (too long).
Result<Tree> parse_json(std::string_view text);

}  // namespace halyard::decode
