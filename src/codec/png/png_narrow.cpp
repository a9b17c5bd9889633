// SPDX-License-Identifier: Apache-2.0
// 16-bit PNG samples to bytes, in u16 integers; every target gives the same bytes. v / 257 equals
// v * 65281 / 2^24 up to an error of 2^-24 of it, so ((v * 65281 >> 16) + 128) >> 8 is the nearest
// integer for every v. The product's high half is at most 65280, so the sum stays below 2^16.
#include "codec/png/png_narrow.h"

#include <bit>

#include "codec/png/png_filter.h"

// Use the portable target instead of the one-lane target, which cannot pack.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/png/png_narrow.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::codec {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void NarrowSamples(const std::uint8_t* in, std::size_t samples, std::uint8_t* out) {
  const hn::CappedTag<std::uint16_t, png_row_slack / 2> d;
  const hn::RebindToSigned<decltype(d)> signed_words;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const auto factor = hn::Set(d, 65281);
  const auto half = hn::Set(d, 128);
  for (std::size_t i = 0; i < samples; i += hn::Lanes(d)) {
    const auto stored = hn::LoadU(d, reinterpret_cast<const std::uint16_t*>(in + 2 * i));
    auto v = stored;
    if constexpr (std::endian::native == std::endian::little)
      v = hn::Or(hn::ShiftLeft<8>(stored), hn::ShiftRight<8>(stored));
    const auto code = hn::ShiftRight<8>(hn::Add(hn::MulHigh(v, factor), half));
    hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(signed_words, code)), bytes, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::codec {

HWY_EXPORT(NarrowSamples);

void narrow_samples(const std::uint8_t* in, std::size_t samples, std::uint8_t* out) noexcept {
  HWY_DYNAMIC_DISPATCH(NarrowSamples)(in, samples, out);
}

}  // namespace halyard::codec
#endif
