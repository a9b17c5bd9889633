// SPDX-License-Identifier: Apache-2.0
// Values of keys as JSON has them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "halyard/attributes.h"

namespace halyard {

/// A value of a key, or an end of a range, by JSON: a number, a name, a list of names.
/// Errors: invalid_argument (of another type, out of range).
Result<AttributeValue> value_from_json(const KeyInfo& info, const nlohmann::json& json);

/// The value as value_from_json() takes it.
nlohmann::json value_to_json(const KeyInfo& info, AttributeValue value);

/// Errors: invalid_argument (the number is none that the key can have).
Status check_value(const KeyInfo& info, AttributeValue value);

}  // namespace halyard
