// SPDX-License-Identifier: Apache-2.0
// Chooses extents that parties require, within the ranges that others allow.
#include <algorithm>
#include <utility>

#include "reconcile/layout/settle_extents.h"
#include "reconcile/merge/draft.h"

namespace halyard {

void settle_extents(Merged& merged, std::vector<Failure>& failures) {
  const auto settle = [&](Key key, Key required, std::size_t index) {
    const MergedValue& needed = merged.at(required, index);
    MergedValue& extent = merged.values[slot_of(key, index)];
    if (!needed.is_set || extent.contradicts) return;
    const AttributeValue need = needed.value;
    const bool is_said = std::exchange(extent.is_set, true);
    const AttributeValue allowed = is_said ? extent.value : AttributeValue{1, ~std::uint64_t{0}};
    // A single stated extent also holds all smaller ones.
    const bool is_open = allowed.low != allowed.high;
    const bool is_too_large = need.high > allowed.high;
    if (is_too_large || (is_open && need.low < allowed.low))
      failures.push_back({Check::required, static_cast<std::uint16_t>(slot_of(required, index)),
                          is_too_large ? need.high : need.low,
                          is_too_large ? allowed.high : allowed.low});
    const std::uint64_t settled = is_open ? std::min(need.high, allowed.high) : allowed.low;
    extent.value = {settled, settled};
  };
  settle(Key::width, Key::width_required, 0);
  settle(Key::height, Key::height_required, 0);
  for (std::size_t k = 0; k < max_axes; ++k)
    settle(Key::shape, Key::shape_required, k);
}

}  // namespace halyard
