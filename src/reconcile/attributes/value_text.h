// SPDX-License-Identifier: Apache-2.0
// Values of keys as JSON, and back.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "halyard/attributes.h"

namespace halyard {

/// The value of a key that JSON holds: a number, a name, a list of names, or a range. Errors:
/// invalid_argument (of another type, out of range).
Result<AttributeValue> value_from_json(const KeyInfo& info, const nlohmann::json& json);

/// The value in the form that value_from_json() takes.
nlohmann::json value_to_json(const KeyInfo& info, AttributeValue value);

/// Errors: invalid_argument (the key cannot have the value).
Status check_value(const KeyInfo& info, AttributeValue value);

}  // namespace halyard
