// SPDX-License-Identifier: Apache-2.0
// Standard input is read from its descriptor: opening its name in /dev would read a file from the
// beginning.
#include "input/input_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "halyard/codec.h"

namespace halyard::tool {
namespace {

constexpr std::size_t step_bytes = std::size_t{1} << 16;

Result<std::vector<std::byte>> read_standard_input(std::size_t max_bytes) {
  std::vector<std::byte> bytes;
  std::size_t used = 0;
  while (true) {
    bytes.resize(std::max(used + step_bytes, bytes.size()));
    const ssize_t got = ::read(STDIN_FILENO, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return make_error(Errc::os, "cannot be read", "standard input", errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > max_bytes)
      return make_error(Errc::invalid_argument, "file is larger than max_bytes",
                        fmt::format("standard input: above {} bytes", max_bytes));
    if (used == bytes.size()) bytes.resize(used + std::min(used, max_bytes));
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace

Result<std::vector<std::byte>> read_path(const std::string& path, std::size_t max_bytes) {
  if (path != "-") return read_file(path, max_bytes);
  // The bytes are kept, so that a second read gets the same bytes.
  static std::optional<std::vector<std::byte>> kept;
  if (!kept) {
    HALYARD_TRY(kept, read_standard_input(max_bytes));
  }
  return *kept;
}

Result<std::vector<std::byte>> read_input(const std::string& path) {
  std::error_code ignored;
  const bool has_size = std::filesystem::is_regular_file(path, ignored);
  return read_path(path, has_size ? std::size_t{1} << 30 : std::size_t{1} << 28);
}

}  // namespace halyard::tool
