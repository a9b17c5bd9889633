// SPDX-License-Identifier: Apache-2.0
// A number for each thread of the process.
#pragma once

#include <cstdint>

namespace halyard {

/// Numbers start at 1 and are never used again, unlike addresses and ids of threads: data of a
/// thread may outlive it. Thread-safe.
std::uint64_t this_thread_number() noexcept;

}  // namespace halyard
