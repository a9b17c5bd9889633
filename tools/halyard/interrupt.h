// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first one asks the program to finish what it has begun, the second one ends it.
#pragma once

namespace halyard::tool {

/// Installs the handlers of SIGINT and SIGTERM for its lifetime. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  /// Thread-safe.
  static bool is_requested() noexcept;
};

}  // namespace halyard::tool
