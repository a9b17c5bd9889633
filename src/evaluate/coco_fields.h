// SPDX-License-Identifier: Apache-2.0
// Fields of a record of a file in COCO's format. Every field is checked by hand, because a file may
// hold anything.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "halyard/evaluate.h"

namespace halyard::evaluate {

using Json = nlohmann::json;

/// Description of what is wrong with a value, beginning with the path inside the record; empty:
/// nothing is wrong.
using Problem = std::string;

/// Null if the record, an object, has no such member.
const Json* member(const Json& record, const char* key);

Problem read_integer(const Json& record, const char* key, std::int64_t& out);
Problem read_number(const Json& record, const char* key, double& out);
/// A text; `out` stays if there is none.
Problem read_text(const Json& record, const char* key, std::string& out);
/// `bbox`: x, y, width and height, not negative.
Problem read_box(const Json& record, CocoBox& out);
/// Replaces `out` with the numbers of an array. `key` is the value's path for messages.
Problem read_numbers(const Json& value, const std::string& key, std::vector<double>& out);

}  // namespace halyard::evaluate
