// SPDX-License-Identifier: Apache-2.0
// Cuts a runtime's exception text to one readable line.
#pragma once

#include <string>
#include <string_view>

namespace halyard::model {

/// The last line that says something (the first ones name source files), at most 200 bytes.
std::string one_line(std::string_view text);

}  // namespace halyard::model
