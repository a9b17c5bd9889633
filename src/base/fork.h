// SPDX-License-Identifier: Apache-2.0
// Threads of ours and fork(): a child has none of them, and waiting for them would take for ever.
#pragma once

namespace halyard {

/// Said before threads are started. Thread-safe.
void threads_start() noexcept;
/// Whether this process was forked from one that had said so. Such a process works on the threads
/// that call. Thread-safe.
bool threads_are_lost() noexcept;

}  // namespace halyard
