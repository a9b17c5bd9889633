// SPDX-License-Identifier: Apache-2.0
// Files that a document names: found inside one folder, and nowhere else.
#pragma once

#include <string>

#include "halyard/result.h"

namespace halyard::tool {

/// The path of regular file `name` below `folder`, links resolved. Errors: invalid_argument (a name
/// that is empty or absolute, has a "..", or whose links lead out of the folder; what is no regular
/// file), not_found, permission, os.
Result<std::string> file_inside(const std::string& folder, const std::string& name);

}  // namespace halyard::tool
