// SPDX-License-Identifier: Apache-2.0
// WriteClaim: one thread's right to write some bytes of a buffer, held by a Map.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/local.h"
#include "halyard/buffer.h"

namespace halyard {

/// The claims of a buffer form a list that only grows. Ended claims are used again, so that mapping
/// in a steady state allocates nothing. A claim is made under the buffer's lock and ended by one
/// atomic store. If fork() interrupts a change, the list is still consistent in the child.
struct HALYARD_LOCAL WriteClaim {
  static constexpr std::size_t max_regions = 4;

  /// Threads are numbered from 1.
  static constexpr std::uint64_t nobody = 0;

  std::atomic<std::uint64_t> thread{nobody};  ///< the holder
  std::uint32_t process =
      0;                  ///< fork_generation() of the holder; claims of other processes are void
  std::size_t count = 0;  ///< of regions; 0: the whole buffer
  std::array<ByteRegion, max_regions> regions;
  std::unique_ptr<WriteClaim> next;

  /// The next holder sees all writes made before. Callable on any thread.
  void release() noexcept { thread.store(nobody, std::memory_order_release); }
  bool meets(std::span<const ByteRegion> others) const noexcept;
};

}  // namespace halyard
