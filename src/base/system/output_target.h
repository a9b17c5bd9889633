// SPDX-License-Identifier: Apache-2.0
// Where an output goes: the folder and name at the end of its symbolic links, and what is there.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "halyard/fd.h"
#include "halyard/result.h"

namespace halyard {

struct OutputTarget {
  Fd folder;                            ///< opened with O_PATH
  std::string name;                     ///< in the folder
  std::optional<struct stat> existing;  ///< of what has the name; nothing: the name is free
  bool is_direct = false;               ///< written to as it is: device, FIFO, link in /proc
};

/// Errors: as OutputFile::create().
Result<OutputTarget> find_output_target(const std::string& path);

/// Whether the name is still free or a file's, or a link's that was put there since: rename()
/// replaces the link then. Errors: exists.
Status check_replaceable(const OutputTarget& target, const std::string& path);

}  // namespace halyard
