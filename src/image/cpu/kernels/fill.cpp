// SPDX-License-Identifier: Apache-2.0
// Fills memory with a pattern: three vectors hold the pattern and are stored one after the other.
#include "image/cpu/kernels/fill.h"

#include <cstdint>
#include <cstring>

// Enables the portable target. GCC before 12.3 gets its high halves of products wrong; this file
// has none.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/fill.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t whole_periods = 48;  // bytes; a multiple of every period

void FillPattern(const std::byte* pattern, std::byte* to, std::size_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t n = hn::Lanes(d);
  const auto* from = reinterpret_cast<const std::uint8_t*>(pattern);
  auto* out = reinterpret_cast<std::uint8_t*>(to);
  if (bytes < n) {
    std::memcpy(to, pattern, bytes);
    return;
  }
  const auto a = hn::LoadU(d, from);
  const auto b = hn::LoadU(d, from + n);
  const auto c = hn::LoadU(d, from + 2 * n);
  std::size_t at = 0;
  for (; at + 3 * n <= bytes; at += 3 * n) {
    hn::StoreU(a, d, out + at);
    hn::StoreU(b, d, out + at + n);
    hn::StoreU(c, d, out + at + 2 * n);
  }
  if (at + n <= bytes) hn::StoreU(a, d, out + at);
  if (at + 2 * n <= bytes) hn::StoreU(b, d, out + at + n);
  // The last vector overlaps the ones before it and is in phase with them.
  hn::StoreU(hn::LoadU(d, from + (bytes - n) % whole_periods), d, out + bytes - n);
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(FillPattern);

void fill_pattern(const std::byte* pattern, std::byte* to, std::size_t bytes) {
  HWY_DYNAMIC_DISPATCH(FillPattern)(pattern, to, bytes);
}

}  // namespace halyard::image
#endif
