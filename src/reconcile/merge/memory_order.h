// SPDX-License-Identifier: Apache-2.0
// Which memory comes first where several kinds serve.
#pragma once

#include <cstdint>
#include <span>

#include "halyard/attributes.h"

namespace halyard {

struct MemoryOrder {
  bool prefers_dma = false;       ///< devices take part: DMA-BUFs come first
  bool prefers_uncached = false;  ///< a party wishes that no CPU caches the memory
};

}  // namespace halyard
