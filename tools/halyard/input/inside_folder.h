// SPDX-License-Identifier: Apache-2.0
// Files that a document names, restricted to one folder.
#pragma once

#include <string>

#include "halyard/result.h"

namespace halyard::tool {

/// The path of the regular file `name` below `folder`, links resolved. Errors: invalid_argument
/// (the name is empty or absolute, contains "..", or its links lead out of the folder; not a
/// regular file), not_found, permission, os.
Result<std::string> file_inside(const std::string& folder, const std::string& name);

}  // namespace halyard::tool
