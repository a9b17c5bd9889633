// SPDX-License-Identifier: Apache-2.0
// Where this library is, to find what is installed beside it.
#pragma once

#include <string>

namespace halyard {

/// Folder of the file that this code was loaded from, absolute; empty if it cannot be found.
std::string own_folder();

}  // namespace halyard
