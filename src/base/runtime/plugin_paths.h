// SPDX-License-Identifier: Apache-2.0
// Where plugins are: shared objects of others that the library loads.
#pragma once

#include <string>
#include <vector>

namespace halyard {

/// The files to load, in the order in which they are looked at: those of `listed`, files and
/// folders of a variable, then those of `folder` beside this library. Of a folder: its *.so,
/// sorted. A relative path in `listed` is given back as it is; it must be refused.
std::vector<std::string> plugin_paths(const std::vector<std::string>& listed, const char* folder);

}  // namespace halyard
