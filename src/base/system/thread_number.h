// SPDX-License-Identifier: Apache-2.0
// A number for each thread of the process.
#pragma once

#include <cstdint>

namespace halyard {

/// From 1 on. Never used again, unlike addresses and ids of threads: what a thread holds may
/// outlive it. Thread-safe.
std::uint64_t this_thread_number() noexcept;

}  // namespace halyard
