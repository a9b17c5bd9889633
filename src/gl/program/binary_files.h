// SPDX-License-Identifier: Apache-2.0
// BinaryFiles: compiled programs as files of a folder that belongs to this user alone. What is read
// is checked and never trusted; a file that is wrong is removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/fd.h"
#include "halyard/result.h"

namespace halyard::gl {

/// A program as a driver wrote it.
struct ProgramBinary {
  std::uint32_t format = 0;  ///< one of GL_PROGRAM_BINARY_FORMATS
  std::vector<std::byte> bytes;
};

/// Limits of the folder and of a file.
struct BinaryLimits {
  std::size_t files = 512;
  std::size_t folder_bytes = std::size_t{64} << 20;
  std::size_t file_bytes = std::size_t{4} << 20;
};

/// Move-only. Several processes may use one folder: files come and go as a whole. May throw
/// std::bad_alloc.
class BinaryFiles {
 public:
  /// Opens a folder; makes it, and those above it, with mode 0700 where they are missing. Errors:
  /// permission (it is another user's, or others may enter it), os.
  static Result<BinaryFiles> open(const std::string& folder, const BinaryLimits& limits = {});

  /// The program that was kept under `key`. The whole key is compared, not a hash of it.
  std::optional<ProgramBinary> find(std::string_view key) const;
  /// Replaces the program under `key`, with mode 0600, and removes the files that were used least
  /// lately where there are too many. Errors: exhausted (above the limit of a file), os.
  Status keep(std::string_view key, const ProgramBinary& binary) const;

 private:
  BinaryFiles(Fd folder, const BinaryLimits& limits) noexcept
      : folder_(std::move(folder)), limits_(limits) {}
  void remove_oldest() const;

  Fd folder_;
  BinaryLimits limits_;
};

/// The name of the file of a key.
std::string binary_file_name(std::string_view key);

}  // namespace halyard::gl
