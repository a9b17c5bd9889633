// SPDX-License-Identifier: Apache-2.0
// Standard input is read from its descriptor: opening its name in /dev would read a file from the
// beginning.
#include "input/input_file.h"

#include <unistd.h>

#include <filesystem>
#include <optional>

#include "halyard/codec.h"

namespace halyard::tool {

Result<std::vector<std::byte>> read_path(const std::string& path, std::size_t max_bytes) {
  if (path != "-") return read_file(path, max_bytes);
  // The bytes are kept, so that a second read gets the same bytes.
  static std::optional<std::vector<std::byte>> kept;
  if (!kept) {
    HALYARD_TRY(kept, read_file(STDIN_FILENO, "standard input", max_bytes));
  }
  return *kept;
}

Result<std::vector<std::byte>> read_input(const std::string& path) {
  std::error_code ignored;
  const bool has_size = std::filesystem::is_regular_file(path, ignored);
  return read_path(path, has_size ? std::size_t{1} << 30 : std::size_t{1} << 28);
}

}  // namespace halyard::tool
