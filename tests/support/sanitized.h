// SPDX-License-Identifier: Apache-2.0
// Whether AddressSanitizer or ThreadSanitizer instruments this build.
#pragma once

#include "base/system/tsan.h"

namespace halyard::test {

#if defined(__SANITIZE_ADDRESS__) || defined(HALYARD_TSAN)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif
#else
inline constexpr bool is_sanitized = false;
#endif

/// Rounds are slow under sanitizers: tests divide their counts by this.
inline constexpr int slowness = is_sanitized ? 10 : 1;

}  // namespace halyard::test
