// SPDX-License-Identifier: Apache-2.0
// WriteClaim: one thread's right to write some bytes of a buffer, held by a Map.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "halyard/buffer.h"

namespace halyard {

/// Claims of a buffer form a list that only grows; ended ones are used again, so that mapping in a
/// steady state allocates nothing. Made under the buffer's lock, ended by one atomic store.
struct WriteClaim {
  static constexpr std::size_t most_regions = 4;

  /// Who holds it, see this_thread_token(); null when it is free.
  std::atomic<const void*> thread{nullptr};
  std::size_t count = 0;  ///< of regions; 0 means the whole buffer
  std::array<ByteRegion, most_regions> regions;
  std::unique_ptr<WriteClaim> next;

  bool meets(std::span<const ByteRegion> others) const noexcept;
};

}  // namespace halyard
