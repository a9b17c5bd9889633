// SPDX-License-Identifier: Apache-2.0
// Zeroes what tenants have left, in small steps.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ipc/pool/arena.h"

namespace halyard::ipc {

bool Arena::scrub_one() noexcept {
  return scrub(PTRDIFF_MAX);
}

// Zeroes the size that was taken: the tenant cannot have written other bytes.
bool Arena::scrub(std::size_t at_most) noexcept {
  if (dirty_.empty()) {
    dirt_is_told_ = false;
    return false;
  }
  const std::uint32_t slot = dirty_.back();
  const auto left = slots_[slot].bytes.subspan(scrubbed_bytes_);
  const auto now = left.first(std::min(at_most, left.size()));
  std::fill(now.begin(), now.end(), std::byte{0});
  scrubbed_bytes_ += now.size();
  if (now.size() < left.size()) return true;
  scrubbed_bytes_ = 0;
  dirty_.pop_back();
  set_free(slot);
  return true;
}

// Works in steps, so that a thread which allocates meanwhile waits a few microseconds at most.
bool Arena::scrub_some() {
  constexpr std::size_t step = std::size_t{100} << 10U;
  bool is_room_wanted = false;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t before = dirty_.size();
    if (!scrub(step)) return false;
    is_room_wanted = dirty_.size() < before && is_waited_for();
  }
  if (is_room_wanted && on_room_) on_room_();
  return true;
}

}  // namespace halyard::ipc
