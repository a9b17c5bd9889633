// SPDX-License-Identifier: Apache-2.0
// The process-wide default limits. Each is one atomic number, so no reader waits.
#include <array>
#include <atomic>

#include "halyard/codec.h"

namespace halyard {
namespace {

constexpr std::array fields = {
    &DecodeLimits::max_width, &DecodeLimits::max_height,      &DecodeLimits::max_pixels,
    &DecodeLimits::max_bytes, &DecodeLimits::max_expansion,   &DecodeLimits::expansion_floor,
    &DecodeLimits::max_scans, &DecodeLimits::max_scan_passes,
};
static_assert(sizeof(DecodeLimits) == fields.size() * sizeof(std::size_t));

using Numbers = std::array<std::atomic<std::size_t>, fields.size()>;

Numbers& numbers() noexcept {
  constexpr DecodeLimits own;
  static Numbers all = {own.max_width, own.max_height,     own.max_pixels,
                        own.max_bytes, own.max_expansion,  own.expansion_floor,
                        own.max_scans, own.max_scan_passes};
  return all;
}

}  // namespace

DecodeLimits DecodeLimits::defaults() noexcept {
  DecodeLimits out;
  for (std::size_t i = 0; i < fields.size(); ++i)
    out.*fields[i] = numbers()[i].load(std::memory_order_relaxed);
  return out;
}

void set_default_decode_limits(const DecodeLimits& limits) noexcept {
  for (std::size_t i = 0; i < fields.size(); ++i)
    numbers()[i].store(limits.*fields[i], std::memory_order_relaxed);
}

}  // namespace halyard
