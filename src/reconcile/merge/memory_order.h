// SPDX-License-Identifier: Apache-2.0
// The order of preference when several kinds of memory serve.
#pragma once

#include <cstdint>
#include <span>

#include "halyard/attributes.h"

namespace halyard {

struct MemoryOrder {
  bool prefers_dma = false;       ///< devices take part: DMA-BUFs come first
  bool prefers_uncached = false;  ///< a party wants memory that no CPU caches
};

}  // namespace halyard
