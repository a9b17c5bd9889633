// SPDX-License-Identifier: Apache-2.0
// Names of layouts and formats.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "halyard/attributes.h"

namespace halyard {

/// Errors: invalid_argument (an x that its order does not support).
Status check_tag(const LayoutTag& tag);

/// A name that is legal for the key: a tensor's layout, an image's format, or "*". Errors:
/// invalid_argument.
Result<LayoutTag> layout_tag_from_json(const KeyInfo& info, const nlohmann::json& json);

}  // namespace halyard
