// SPDX-License-Identifier: Apache-2.0
// Signals that end the program: none leaves a part file behind. While frames are on their way, the
// first Ctrl-C asks to finish what has begun, and the second one ends the program.
#pragma once

namespace halyard::tool {

/// Installs the handlers for the rest of the process's life; before the first file is made. A
/// signal that the caller has the process ignore stays ignored, as nohup has it for SIGHUP. Writes
/// to a closed pipe and above the limit of file sizes become errors instead of signals.
void install_signal_handlers();

/// Ends the process by the signal that asked it to finish, so that its parent sees which one it was
/// (a shell: 128 + its number). Returns where none did, and after Ctrl-C, which has its exit code.
void end_by_requested_signal() noexcept;

/// While it lives, the first SIGINT or SIGTERM is a request. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  /// Since the last guard was made. Thread-safe.
  static bool is_requested() noexcept;
};

}  // namespace halyard::tool
