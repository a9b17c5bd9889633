// SPDX-License-Identifier: Apache-2.0
// The target of an output: the folder and name at the end of its symbolic links, and what exists
// there.
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
  std::optional<struct stat> existing;  ///< what has the name; nothing: the name is free
  bool is_direct = false;               ///< written in place: device, FIFO, link in /proc
};

/// Errors: as OutputFile::create().
Result<OutputTarget> find_output_target(const std::string& path);

/// Fails if the name now belongs to something that is neither a file nor a link. rename() replaces
/// a link that was put there since. Errors: exists.
Status check_replaceable(const OutputTarget& target, const std::string& path);

}  // namespace halyard
