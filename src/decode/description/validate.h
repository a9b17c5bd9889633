// SPDX-License-Identifier: Apache-2.0
// The rules behind validate() for one output. validate_counts.h and validate_levels.h have those
// among several outputs.
#pragma once

#include <string>
#include <string_view>

#include "halyard/description.h"

namespace halyard::decode {

/// Errors invalid_argument and unsupported, in the form of documents: "path: seen, rule".
Error wrong(std::string_view path, std::string_view seen, std::string_view rule);
Error not_served(std::string_view path, std::string_view seen, std::string_view rule);

/// Checks shape, names, quantization and coding of one output and of its parts.
Status check_output(const OutputDescription& output, const std::string& path);

/// Max bins of one side of a distribution.
inline constexpr std::size_t max_bins = 64;

}  // namespace halyard::decode
