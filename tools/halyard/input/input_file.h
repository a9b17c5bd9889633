// SPDX-License-Identifier: Apache-2.0
// Reads files; "-" is standard input.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "halyard/result.h"

namespace halyard::tool {

/// Reads a whole file; "-" is standard input, which is read to its end once. Not thread-safe.
/// Errors: as read_file().
Result<std::vector<std::byte>> read_path(const std::string& path, std::size_t max_bytes);

/// Reads a whole input. Limits: a regular file 1 GiB; a pipe or device, whose size is unknown, 256
/// MiB. "-" is standard input. Errors: as read_file().
Result<std::vector<std::byte>> read_input(const std::string& path);

}  // namespace halyard::tool
