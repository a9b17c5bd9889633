// SPDX-License-Identifier: Apache-2.0
// Counting of payload copies; see CopyStats. Whoever copies pixels or elements calls this.
#pragma once

#include <cstddef>

namespace halyard {

/// One copy of `bytes`. Thread-safe.
void count_copy(std::size_t bytes) noexcept;

}  // namespace halyard
