// SPDX-License-Identifier: Apache-2.0
// Antialias taps in double precision, a vector of outputs at a time; fast, because plans may be
// made while frames wait. Weights are stored in single precision, as integers of 14 bits that sum
// to 2^14, or as parts of 16 bits that are at most 2^16 - 1.
#include "image/cpu/kernels/resample/antialias_taps.h"

#include <algorithm>

// Uses the portable vector target instead of the scalar one.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/resample/antialias_taps.cpp"
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

constexpr std::size_t lanes = HWY_MAX_BYTES / sizeof(double);
constexpr std::size_t maximum = max_antialias_taps;

/// Weights of a vector of outputs, tap by tap.
struct Columns {
  HWY_ALIGN float single[maximum * lanes];
  HWY_ALIGN std::int32_t fixed[maximum * lanes];
};

// Returns the first samples of the vector of outputs that begins with x, and their centres.
HWY_INLINE V first_of(const Positions& at, std::int32_t x, std::int32_t count, V& centre) {
  const D d;
  const V odd = hn::Add(hn::Mul(hn::Iota(d, 0), hn::Set(d, 2)), hn::Set(d, 2.0 * x + 1));
  centre = hn::Div(hn::Mul(odd, hn::Set(d, at.length)), hn::Set(d, at.whole));
  centre = hn::Add(hn::Set(d, at.begin), centre);
  V lowest = hn::Set(d, at.lowest);
  V last = hn::Set(d, at.highest - count);
  if (at.mirrored) {
    centre = hn::Sub(hn::Set(d, at.reflect + 1), centre);
    lowest = hn::Set(d, at.reflect + 1 - at.highest);
    last = hn::Set(d, at.reflect + 1 - at.lowest - count);
  }
  const V reach = hn::Set(d, std::max(2 * at.length / at.whole, 1.0) - 0.5);
  return hn::Min(hn::Max(hn::Floor(hn::Sub(centre, reach)), lowest), last);
}

HWY_INLINE void weigh_columns(const Positions& at, V first, V centre, std::size_t count,
                              Columns& c) {
  const D d;
  const DF df;
  const V one = hn::Set(d, 1);
  const V narrowing = hn::Set(d, 1 / std::max(2 * at.length / at.whole, 1.0));
  HWY_ALIGN double exact[maximum * lanes];
  V sum = hn::Zero(d);
  V away = hn::Add(hn::Sub(first, centre), hn::Set(d, 0.5));
  for (std::size_t t = 0; t < count; ++t) {
    const V weight = hn::Max(hn::Sub(one, hn::Abs(hn::Mul(away, narrowing))), hn::Zero(d));
    sum = hn::Add(sum, weight);
    hn::Store(weight, d, exact + t * lanes);
    away = hn::Add(away, one);
  }
  const V share = hn::Div(one, sum);
  for (std::size_t t = 0; t < count; ++t) {
    const V weight = hn::Mul(hn::Load(d, exact + t * lanes), share);
    hn::Store(hn::DemoteTo(df, weight), df, c.single + t * lanes);
  }
}

// Rounds to integers that sum to 2^bits: the greatest weight takes the rounding error, as in
// to_fixed().
HWY_INLINE void round_columns(std::size_t count, int bits, Columns& c) {
  const D d;
  const DF df;
  const DI di;
  const V one = hn::Set(d, 1 << bits);
  VI left = hn::Set(di, 1 << bits);
  VI greatest = hn::Zero(di);
  for (std::size_t t = 0; t < count; ++t) {
    const V weight = hn::PromoteTo(d, hn::Load(df, c.single + t * lanes));
    const VI fixed = hn::DemoteTo(di, hn::Add(hn::Mul(weight, one), hn::Set(d, 0.5)));
    hn::Store(fixed, di, c.fixed + t * lanes);
    left = hn::Sub(left, fixed);
    greatest = hn::Max(greatest, fixed);
  }
  for (std::size_t t = 0; t < count; ++t) {
    const VI fixed = hn::Load(di, c.fixed + t * lanes);
    const auto takes = hn::Eq(fixed, greatest);
    hn::Store(hn::Add(fixed, hn::IfThenElseZero(takes, left)), di, c.fixed + t * lanes);
    left = hn::IfThenZeroElse(takes, left);
  }
}

// Drops leading taps of weight 0; returns the new first samples.
HWY_INLINE VI without_idle(VI first, std::size_t count, Columns& c) {
  const DI di;
  for (std::size_t i = 1; i < count; ++i) {
    const auto idle = hn::Eq(hn::Load(di, c.fixed), hn::Zero(di));
    if (hn::AllFalse(di, idle)) break;
    first = hn::Add(first, hn::IfThenElseZero(idle, hn::Set(di, 1)));
    for (std::size_t t = 0; t < count; ++t) {
      const VI here = hn::Load(di, c.fixed + t * lanes);
      const VI next = t + 1 < count ? hn::Load(di, c.fixed + (t + 1) * lanes) : hn::Zero(di);
      hn::Store(hn::IfThenElse(idle, next, here), di, c.fixed + t * lanes);
    }
  }
  return first;
}

template <class T>
HWY_INLINE void store_some(const std::int32_t* values, std::size_t outputs, T* to) {
  if (outputs == lanes) {  // the usual case: the compiler knows the count
    for (std::size_t i = 0; i < lanes; ++i)
      to[i] = static_cast<T>(values[i]);
    return;
  }
  for (std::size_t i = 0; i < outputs; ++i)
    to[i] = static_cast<T>(values[i]);
}

template <class T, class From>
HWY_INLINE void store_rows(const From* columns, std::size_t outputs, std::size_t count, T* to) {
  for (std::size_t x = 0; x < outputs; ++x) {
    for (std::size_t t = 0; t < count; ++t)
      to[x * count + t] = static_cast<T>(columns[t * lanes + x]);
  }
}

// Makes `parts`: a byte of 255 gets exactly its share of 255 * 2^8 when the kernel truncates
// products.
HWY_INLINE void make_parts(std::size_t count, Columns& c) {
  constexpr std::uint32_t white = 255U << 8U;
  std::uint32_t sum[lanes] = {};
  std::uint32_t before[lanes] = {};
  for (std::size_t t = 0; t < count; ++t) {
    std::int32_t* fixed = c.fixed + t * lanes;
    for (std::size_t x = 0; x < lanes; ++x) {
      sum[x] += static_cast<std::uint32_t>(fixed[x]);
      const std::uint32_t until = (sum[x] * white + (1U << 15U)) >> 16U;
      const std::uint32_t share = until - before[x];
      before[x] = until;
      // A weight of one is stored as 2^16 - 1.
      const std::uint32_t part = ((share << 16U) + white - 1) / white;
      fixed[x] = static_cast<std::int32_t>(std::min(part, 0xFFFFU));
    }
  }
}

}  // namespace

void AntialiasTaps(const Positions& at, std::int32_t begin, std::int32_t end, std::int32_t count,
                   const AntialiasTapsOut& out) {
  const auto taps = static_cast<std::size_t>(count);
  const DI di;
  Columns c;
  for (std::int32_t x = begin; x < end; x += static_cast<std::int32_t>(lanes)) {
    const auto from = static_cast<std::size_t>(x);
    const std::size_t outputs = std::min(lanes, static_cast<std::size_t>(end - x));
    V centre = hn::Zero(D());
    const V at_first = first_of(at, x, count, centre);
    weigh_columns(at, at_first, centre, taps, c);
    VI first = hn::DemoteTo(di, at_first);
    if (out.weights != nullptr) store_rows(c.single, outputs, taps, out.weights + from * taps);
    if (out.parts != nullptr) {
      round_columns(taps, 16, c);
      make_parts(taps, c);
      store_rows(c.fixed, outputs, taps, out.parts + from * taps);
    }
    if (out.fixed != nullptr) {
      round_columns(taps, 14, c);
      first = without_idle(first, taps, c);
      for (std::size_t t = 0; t < taps; ++t)
        store_some(c.fixed + t * lanes, outputs, out.fixed + t * out.stride + from);
    }
    hn::Store(first, di, c.fixed);
    store_some(c.fixed, outputs, out.first + from);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(AntialiasTaps);

void antialias_taps(const Positions& at, std::int32_t begin, std::int32_t end, std::int32_t count,
                    const AntialiasTapsOut& out) {
  HWY_DYNAMIC_DISPATCH(AntialiasTaps)(at, begin, end, count, out);
}

}  // namespace halyard::image
#endif
