// SPDX-License-Identifier: Apache-2.0
// Linear taps in double precision, a vector of outputs at a time; fast, because plans may be made
// while frames wait. Weights are rounded to integers of `bits` fractional bits in [0, 2^bits].
#include "image/cpu/kernels/resample/linear_taps.h"

// Uses the portable vector target instead of the scalar one.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/resample/linear_taps.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using DF = hn::Rebind<float, D>;
using DI = hn::Rebind<std::int32_t, D>;
using V = hn::Vec<D>;
using VI = hn::Vec<DI>;

// The single-precision weight times `one`, rounded to an integer, halves up.
HWY_INLINE VI to_fixed_lanes(V weight, V one) {
  const V single = hn::PromoteTo(D(), hn::DemoteTo(DF(), weight));
  return hn::DemoteTo(DI(), hn::Add(hn::Mul(single, one), hn::Set(D(), 0.5)));
}

// The weight of the second sample in fixed point. With `balanced`, the lesser of the two weights is
// rounded, and the other one is the rest.
template <bool balanced>
HWY_INLINE VI round_weight(V second, V full, V one, VI fixed_one) {
  VI weight = to_fixed_lanes(second, one);
  if constexpr (balanced) {
    const VI other = to_fixed_lanes(hn::Sub(full, second), one);
    weight = hn::IfThenElse(hn::Gt(weight, other), hn::Sub(fixed_one, other), weight);
  }
  return weight;
}

template <bool mirrored, bool balanced>
void place_taps(const Positions& at, std::int32_t begin, std::int32_t end, int bits,
                const LinearTapsOut& out) {
  const D d;
  const DI di;
  const std::int32_t unit = 1 << bits;
  const V one = hn::Set(d, unit);
  const VI fixed_one = hn::Set(di, unit);
  const V axis_begin = hn::Set(d, at.begin);
  const V length = hn::Set(d, at.length);
  const V share = hn::Set(d, 1 / at.whole);
  const V lowest = hn::Set(d, at.lowest);
  const V last = hn::Set(d, at.highest - 2);
  const V full = hn::Set(d, 1);
  const V step = hn::Set(d, 2.0 * static_cast<double>(hn::Lanes(d)));
  V odd = hn::Add(hn::Mul(hn::Iota(d, 0), hn::Set(d, 2)), hn::Set(d, 2.0 * begin + 1));
  for (std::int32_t x = begin; x < end; x += static_cast<std::int32_t>(hn::Lanes(d))) {
    // A product instead of a division: where its last bit moves a position over the border between
    // two samples, the rounding of the weight moves it back.
    const V centre = hn::Add(axis_begin, hn::Mul(hn::Mul(odd, length), share));
    odd = hn::Add(odd, step);
    const V position = hn::Sub(centre, hn::Set(d, 0.5));
    V first = hn::Floor(position);
    V second = hn::Sub(position, first);
    second = hn::IfThenZeroElse(hn::Lt(first, lowest), second);
    second = hn::IfThenElse(hn::Gt(first, last), full, second);
    first = hn::Min(hn::Max(first, lowest), last);
    if constexpr (mirrored) {
      first = hn::Sub(hn::Set(d, at.reflect - 1), first);
      second = hn::Sub(full, second);
    }
    const VI weight = round_weight<balanced>(second, full, one, fixed_one);
    // A weight of one: the output is the second sample alone.
    const auto next = hn::Eq(weight, fixed_one);
    const VI sample = hn::DemoteTo(di, first);
    hn::StoreU(hn::IfThenElse(next, hn::Add(sample, hn::Set(di, 1)), sample), di, out.first + x);
    hn::StoreU(hn::IfThenZeroElse(next, weight), di, out.second + x);
  }
}

}  // namespace

void LinearTaps(const Positions& at, std::int32_t begin, std::int32_t end, int bits, bool balanced,
                const LinearTapsOut& out) {
  if (at.mirrored) {
    balanced ? place_taps<true, true>(at, begin, end, bits, out)
             : place_taps<true, false>(at, begin, end, bits, out);
  } else {
    balanced ? place_taps<false, true>(at, begin, end, bits, out)
             : place_taps<false, false>(at, begin, end, bits, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(LinearTaps);

void linear_taps(const Positions& at, std::int32_t begin, std::int32_t end, int bits, bool balanced,
                 const LinearTapsOut& out) {
  HWY_DYNAMIC_DISPATCH(LinearTaps)(at, begin, end, bits, balanced, out);
}

}  // namespace halyard::image
#endif
