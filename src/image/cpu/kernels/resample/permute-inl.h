// SPDX-License-Identifier: Apache-2.0
// The horizontal pass where the processor permutes 16-bit samples of two 512-bit vectors (AVX-512):
// the same numbers as the kernels of horizontal.cpp, in fewer steps. Samples are signed 16-bit with
// 7 or 6 fractional bits, weights have 14; ranges as in horizontal.cpp. Included once per target,
// after Highway and outside of namespaces.
#include <cstddef>
#include <cstdint>

#include "image/cpu/kernels/resample/horizontal.h"

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace permutes {
namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::ScalableTag<std::int16_t>;
using DU16 = hn::ScalableTag<std::uint16_t>;
using D32 = hn::ScalableTag<std::int32_t>;
using V16 = hn::Vec<D16>;
using VU16 = hn::Vec<DU16>;
using V32 = hn::Vec<D32>;

struct PermuteWindow {
  V16 low, high;
  HWY_INLINE V16 at(VU16 index) const {
    return V16{_mm512_permutex2var_epi16(low.raw, index.raw, high.raw)};
  }
};

HWY_INLINE PermuteWindow window_at(const std::int16_t* in) {
  return {hn::LoadU(D16(), in), hn::LoadU(D16(), in + hn::Lanes(D16()))};
}

HWY_INLINE PermuteWindow window_at(const std::uint8_t* in) {
  const D8 d;
  return {hn::BitCast(D16(), hn::LoadU(d, in)),
          hn::BitCast(D16(), hn::LoadU(d, in + hn::Lanes(d)))};
}

HWY_INLINE VU16 load_table(const std::vector<std::uint16_t>& table, std::size_t at) {
  return hn::LoadU(DU16(), table.data() + at);
}

// a + (b - a) * w: rounded as the sum of both products is. Samples with two taps are not negative,
// so that their difference fits 16 bits.
HWY_INLINE V16 blend_pair(V16 a, V16 b, V16 twice_weight) {
  return hn::Add(a, hn::MulFixedPoint15(hn::Sub(b, a), twice_weight));
}

// Byte `index` of the window, with `fraction` fractional bits.
HWY_INLINE V16 byte_at(const PermuteWindow& w, VU16 index, int fraction) {
  const DU16 du;
  const VU16 unit = hn::BitCast(du, w.at(hn::ShiftRight<1>(index)));
  const VU16 shift = hn::ShiftLeft<3>(hn::And(index, hn::Set(du, 1)));
  const VU16 byte = hn::And(hn::Shr(unit, shift), hn::Set(du, 0xFF));
  return hn::BitCast(D16(), hn::ShiftLeftSame(byte, fraction));
}

// Stores whole vectors: of a group of 16 the second half is spare, or is overwritten by the next
// group. A second tap outside the window has weight 0.
template <bool second>
void row_of_one_pair(const std::int16_t* in, const PermuteTable& t, std::int16_t* out) {
  const VU16 next = hn::Set(DU16(), 1);
  for (std::size_t g = 0; g < t.base.size(); ++g) {
    const std::size_t at = g * t.group;
    const PermuteWindow w = window_at(in + t.base[g]);
    const VU16 index = load_table(t.index, at);
    V16 v = w.at(index);
    if constexpr (second)
      v = blend_pair(v, w.at(hn::Add(index, next)), hn::LoadU(D16(), t.weights.data() + at));
    hn::StoreU(v, D16(), out + at);
  }
}

// `known`: count of pairs, 0 for any. Offsets of a known count stay in registers.
template <int known>
void row_of_pairs(const std::int16_t* in, const PermuteTable& t, std::int16_t* out) {
  const D32 d32;
  const hn::Rebind<std::int16_t, D32> half;
  const std::size_t groups = t.base.size();
  const std::size_t pairs = known == 0 ? t.pairs : known;
  const std::int32_t* base = t.base.data();
  const std::uint16_t* index = t.index.data();
  const std::int16_t* weights = t.weights.data();
  const V32 rounding = hn::Set(d32, 1 << (HorizontalTable::weight_bits - 1));
  for (std::size_t g = 0; g < groups; ++g) {
    const PermuteWindow w = window_at(in + base[g]);
    const VU16 first = hn::LoadU(DU16(), index + g * PermuteTable::lanes);
    V32 sum = rounding;
    const auto add_pair = [&](std::size_t p) {
      const VU16 taps = hn::Add(first, hn::Set(DU16(), static_cast<std::uint16_t>(2 * p)));
      const V16 weight = hn::LoadU(D16(), weights + (p * groups + g) * PermuteTable::lanes);
      sum = hn::Add(sum, V32{_mm512_madd_epi16(w.at(taps).raw, weight.raw)});
    };
    add_pair(0);
    add_pair(1);
    if constexpr (known == 3) add_pair(2);
    if constexpr (known == 0) {
      for (std::size_t p = 2; p < pairs; ++p)
        add_pair(p);
    }
    hn::StoreU(hn::DemoteTo(half, hn::ShiftRight<HorizontalTable::weight_bits>(sum)), half,
               out + g * t.group);
  }
}

HWY_INLINE void permute_row(const std::int16_t* in, const PermuteTable& table, std::int16_t* out) {
  if (table.pairs == 2) return row_of_pairs<2>(in, table, out);
  if (table.pairs == 3) return row_of_pairs<3>(in, table, out);
  if (table.pairs > 3) return row_of_pairs<0>(in, table, out);
  table.has_second ? row_of_one_pair<true>(in, table, out) : row_of_one_pair<false>(in, table, out);
}

template <bool second>
void bytes_of_one_pair(const std::uint8_t* in, const PermuteTable& t, int fraction,
                       std::int16_t* out) {
  const VU16 next = hn::Set(DU16(), 1);
  for (std::size_t g = 0; g < t.base.size(); ++g) {
    const std::size_t at = g * t.group;
    const PermuteWindow w = window_at(in + t.base[g]);
    const VU16 index = load_table(t.index, at);
    V16 v = byte_at(w, index, fraction);
    if constexpr (second) {
      v = blend_pair(v, byte_at(w, hn::Add(index, next), fraction),
                     hn::LoadU(D16(), t.weights.data() + at));
    }
    hn::StoreU(v, D16(), out + at);
  }
}

HWY_INLINE void permute_bytes(const std::uint8_t* in, const PermuteTable& table, int fraction,
                              std::int16_t* out) {
  table.has_second ? bytes_of_one_pair<true>(in, table, fraction, out)
                   : bytes_of_one_pair<false>(in, table, fraction, out);
}

}  // namespace permutes
}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();
