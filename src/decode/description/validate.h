// SPDX-License-Identifier: Apache-2.0
// The rules behind validate(): of one output, and of outputs among each other.
#pragma once

#include <string>
#include <string_view>

#include "halyard/description.h"

namespace halyard::decode {

/// invalid_argument and unsupported in the form of documents: "path: seen, rule".
Error wrong(std::string_view path, std::string_view seen, std::string_view rule);
Error not_served(std::string_view path, std::string_view seen, std::string_view rule);

/// Shape, names, quantization, coding of one tensor, and of its parts.
Status check_output(const OutputDescription& output, const std::string& path);

/// Most bins of one side of a distribution.
inline constexpr std::size_t max_bins = 64;

}  // namespace halyard::decode
