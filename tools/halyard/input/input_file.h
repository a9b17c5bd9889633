// SPDX-License-Identifier: Apache-2.0
// Files that may be standard input.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "halyard/result.h"

namespace halyard::tool {

/// A whole file; "-" is standard input, read to its end once. Not thread-safe. Errors: as
/// read_file().
Result<std::vector<std::byte>> read_path(const std::string& path, std::size_t max_bytes);

/// A whole input; "-" is standard input: a regular file up to 1 GiB, a pipe or device, which tells
/// no size, up to 256 MiB. Errors: as read_file.
Result<std::vector<std::byte>> read_input(const std::string& path);

}  // namespace halyard::tool
