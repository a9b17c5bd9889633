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

/// Claims of a buffer form a list that only grows; ended ones are used again, so that mapping in a
/// steady state allocates nothing. Made under the buffer's lock, ended by one atomic store; a list
/// that fork() met half way through a change is whole in the child.
struct HALYARD_LOCAL WriteClaim {
  static constexpr std::size_t max_regions = 4;

  /// Threads are numbered from 1 on.
  static constexpr std::uint64_t nobody = 0;

  std::atomic<std::uint64_t> thread{nobody};  ///< who holds it
  std::uint32_t process = 0;                  ///< fork_generation() of the holder: others are gone
  std::size_t count = 0;                      ///< of regions; 0 means the whole buffer
  std::array<ByteRegion, max_regions> regions;
  std::unique_ptr<WriteClaim> next;

  /// The next holder sees what was done before. Any thread.
  void release() noexcept { thread.store(nobody, std::memory_order_release); }
  bool meets(std::span<const ByteRegion> others) const noexcept;
};

}  // namespace halyard
