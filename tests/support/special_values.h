// SPDX-License-Identifier: Apache-2.0
// Values that many tests pass.
#pragma once

#include <chrono>
#include <limits>

namespace halyard::test {

inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float infinity = std::numeric_limits<float>::infinity();

/// A time-out: do not wait.
inline constexpr std::chrono::milliseconds at_once{0};

}  // namespace halyard::test
