// SPDX-License-Identifier: Apache-2.0
// Signals that end the program; none leaves a part file. While frames are in flight, the first
// Ctrl-C requests the program to finish them, and the second one ends the program.
#pragma once

namespace halyard::tool {

/// Installs the handlers for the rest of the process's life. Call before the first file is made. A
/// signal that the caller has set to be ignored stays ignored, as nohup does for SIGHUP. Writes to
/// a closed pipe, and above the limit of file sizes, become errors instead of signals.
void install_signal_handlers();

/// Ends the process by the signal that requested it to finish, so that its parent sees the signal
/// (a shell: 128 + its number). Returns if there was no such signal, or if it was Ctrl-C, which has
/// its own exit code.
void end_by_requested_signal() noexcept;

/// While an object exists, the first SIGINT or SIGTERM is only a request. One object at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  /// Whether a request came since the last guard was made. Thread-safe.
  static bool is_requested() noexcept;
};

}  // namespace halyard::tool
