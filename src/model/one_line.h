// SPDX-License-Identifier: Apache-2.0
// Shortens a runtime's exception text to one readable line.
#pragma once

#include <string>
#include <string_view>

namespace halyard::model {

/// The last line that gives a reason (the first lines name source files), at most 200 bytes.
std::string one_line(std::string_view text);

}  // namespace halyard::model
