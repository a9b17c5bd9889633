// SPDX-License-Identifier: Apache-2.0
// Waits until a 32-bit value in memory changes, with a timeout, within and between processes.
#pragma once

#include <chrono>

#include <cstdint>

namespace halyard {

/// Wakes all threads that wait at the aligned 32-bit word. Makes a system call. Thread-safe.
void wake_all_at(const void* word) noexcept;

/// Waits until a thread wakes the word, it is not `seen`, or the time is over; may return early.
void wait_at_word(const void* word, std::uint32_t seen, std::chrono::nanoseconds timeout) noexcept;

}  // namespace halyard
