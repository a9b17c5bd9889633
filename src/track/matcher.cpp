// SPDX-License-Identifier: Apache-2.0
// Solves the assignment of one pass.
#include "track/matcher.h"

#include "base/assert.h"

namespace halyard::track {

// The pairs are made here: indices are in range, no pair repeats, all costs are finite.
std::span<const std::int32_t> Matcher::solve(std::optional<double> alone) {
  if (pairs_.empty()) return {};
  auto chosen = alone ? assignment_.cheapest(pairs_, rows_.size(), columns_.size(), *alone)
                      : assignment_.max_pairs(pairs_, rows_.size(), columns_.size());
  HALYARD_ASSERT(chosen.has_value());
  return *chosen;
}

}  // namespace halyard::track
