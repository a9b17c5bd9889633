// SPDX-License-Identifier: Apache-2.0
// Waiting for a word of memory to change, with a timeout, in one process and between processes.
#pragma once

#include <chrono>

#include <cstdint>

namespace halyard {

/// Wakes all that wait at the aligned 32-bit word. A system call. Thread-safe.
void wake_all_at(const void* word) noexcept;

/// Waits until somebody wakes the word, it is not `seen`, or the time is over; may return early.
void wait_at_word(const void* word, std::uint32_t seen, std::chrono::nanoseconds timeout) noexcept;

}  // namespace halyard
