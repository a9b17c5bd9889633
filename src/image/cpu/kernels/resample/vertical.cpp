// SPDX-License-Identifier: Apache-2.0
// The vertical pass in integers: the same bits on every target. Samples are signed 16-bit with 7
// fractional bits, or 6 where filters overshoot. Two rows: b - a fits 16 bits, as 8.7 samples are
// not negative and 9.6 samples leave [0, 255] by less than a third. `parts`: unsigned sums of at
// most 255 * 2^8. Else 32-bit sums of 16-bit products: weights of bytes are chosen so that sums
// stay below 2^31; 14-bit weights of samples sum to less than 2. Results saturate.
// Long: all ways of blending share their loads and stores, which are compiled once per target.
#include "image/cpu/kernels/resample/vertical.h"

#include <algorithm>
#include <cstring>

// Uses the portable vector target instead of the scalar one, which cannot shuffle.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/resample/vertical.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::ScalableTag<std::int16_t>;
using DU16 = hn::RebindToUnsigned<D16>;
using D32 = hn::ScalableTag<std::int32_t>;
using DHalf = hn::Rebind<std::uint8_t, D16>;  // one byte per 16-bit lane
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;
using VHalf = hn::Vec<DHalf>;

constexpr std::int32_t fold_rows = 1024;  // rows whose fine sums stay below 2^31

// ---- one vector of groups ------------------------------------------------------------------

constexpr std::size_t vectors_of(Split split) {
  return group_bytes(split);
}

constexpr bool has_luma(Split split) {
  return split == Split::luma_first || split == Split::luma_last;
}

HWY_INLINE V16 widen(VHalf bytes) {
  return hn::PromoteTo(D16(), bytes);
}

HWY_INLINE void load_units(const std::uint8_t* from, V16& low, V16& high) {
  const DU16 du;
  const auto unit = hn::BitCast(du, hn::LoadU(D8(), from));
  low = hn::BitCast(D16(), hn::And(unit, hn::Set(du, 0xFFU)));
  high = hn::BitCast(D16(), hn::ShiftRight<8>(unit));
}

// Loads the groups at `from` as samples 0..255. Splits with luma: two vectors of luma, then two of
// chroma.
template <Split split>
HWY_INLINE void load_groups(const std::uint8_t* from, V16 (&v)[vectors_of(split)]) {
  if constexpr (split == Split::whole) {
    v[0] = widen(hn::LoadU(DHalf(), from));
  } else if constexpr (split == Split::pairs) {
    load_units(from, v[0], v[1]);
  } else if constexpr (split == Split::triples) {
    VHalf a, b, c;
    hn::LoadInterleaved3(DHalf(), from, a, b, c);
    v[0] = widen(a), v[1] = widen(b), v[2] = widen(c);
  } else if constexpr (split == Split::quads) {
    VHalf a, b, c, d;
    hn::LoadInterleaved4(DHalf(), from, a, b, c, d);
    v[0] = widen(a), v[1] = widen(b), v[2] = widen(c), v[3] = widen(d);
  } else {
    const std::size_t bytes = 2 * hn::Lanes(D16());
    if constexpr (split == Split::luma_first) {
      load_units(from, v[0], v[2]);
      load_units(from + bytes, v[1], v[3]);
    } else {
      load_units(from, v[2], v[0]);
      load_units(from + bytes, v[3], v[1]);
    }
  }
}

// A job's pointers, copied one by one. One block copy would wait for the caller's narrower stores;
// without a copy the compiler must assume that each store changes them.
struct Lines {
  const std::uint8_t* row0;
  const std::uint8_t* row1;
  std::int16_t* out0;
  std::int16_t* out1;
  std::int16_t* out2;
  std::int16_t* out3;
};

HWY_INLINE Lines lines_of(const BlendBytes& job) {
  return {job.rows[0], job.rows[job.weights.taps > 1 ? 1 : 0], job.out[0], job.out[1], job.out[2],
          job.out[3]};
}

HWY_INLINE void store_blended(V16 v, std::int16_t* row, std::size_t x) {
  if (row != nullptr) hn::StoreU(v, D16(), row + x);
}

template <Split split>
HWY_INLINE void store_groups(const V16 (&v)[vectors_of(split)], const Lines& line, std::size_t x) {
  constexpr std::size_t n = vectors_of(split);
  if constexpr (has_luma(split)) {
    const D16 d;
    store_blended(v[0], line.out0, 2 * x);
    store_blended(v[1], line.out0, 2 * x + hn::Lanes(d));
    store_blended(hn::ConcatEven(d, v[3], v[2]), line.out1, x);
    store_blended(hn::ConcatOdd(d, v[3], v[2]), line.out2, x);
  } else {
    store_blended(v[0], line.out0, x);
    if constexpr (n > 1) store_blended(v[1], line.out1, x);
    if constexpr (n > 2) store_blended(v[2], line.out2, x);
    if constexpr (n > 3) store_blended(v[3], line.out3, x);
  }
}

// ---- blends --------------------------------------------------------------------------------

HWY_INLINE V16 shifted(V16 v, int fraction) {
  return fraction == 7 ? hn::ShiftLeft<7>(v) : hn::ShiftLeft<6>(v);
}

// a + (b - a) * weight gives equal samples for equal samples.
HWY_INLINE V16 blend_rows(V16 a, V16 b, V16 weight) {
  return hn::Add(a, hn::MulFixedPoint15(hn::Sub(b, a), weight));
}

// 32-bit sums of pairs of rows, in the order of interleaved halves. Each sum has two parts, as
// Highway's widening multiply-add leaves them.
struct Sums {
  V32 low0, low1, high0, high1;

  // A defaulted constructor would not be compiled for the target.
  HWY_INLINE Sums()
      : low0(hn::Zero(D32())),
        low1(hn::Zero(D32())),
        high0(hn::Zero(D32())),
        high1(hn::Zero(D32())) {}
  HWY_INLINE void add(V16 a, V16 b, V16 weights) {
    const D32 d32;
    const V16 low = hn::InterleaveLower(D16(), a, b);
    const V16 high = hn::InterleaveUpper(D16(), a, b);
    low0 = hn::ReorderWidenMulAccumulate(d32, low, weights, low0, low1);
    high0 = hn::ReorderWidenMulAccumulate(d32, high, weights, high0, high1);
  }
  HWY_INLINE V32 low() const { return hn::RearrangeToOddPlusEven(low0, low1); }
  HWY_INLINE V32 high() const { return hn::RearrangeToOddPlusEven(high0, high1); }
};

HWY_INLINE V16 weight_pair(const std::int16_t* pair) {
  std::int32_t both = 0;
  std::memcpy(&both, pair, sizeof both);
  return hn::BitCast(D16(), hn::Set(D32(), both));
}

HWY_INLINE V16 rounded_sums(V32 low, V32 high, int shift) {
  const V32 half = hn::Set(D32(), 1 << (shift - 1));
  return hn::ReorderDemote2To(D16(), hn::ShiftRightSame(hn::Add(low, half), shift),
                              hn::ShiftRightSame(hn::Add(high, half), shift));
}

template <Split split>
HWY_INLINE void blend_many(const BlendBytes& job, std::size_t at, V16 (&v)[vectors_of(split)]) {
  constexpr std::size_t n = vectors_of(split);
  const VerticalWeights& w = job.weights;
  Sums sums[n];
  for (std::int32_t t = 0; t < w.taps; t += 2) {
    V16 a[n], b[n];
    load_groups<split>(job.rows[t] + at, a);
    load_groups<split>(job.rows[std::min(t + 1, w.taps - 1)] + at, b);
    const V16 pair = weight_pair(w.pairs + t);
    for (std::size_t k = 0; k < n; ++k)
      sums[k].add(a[k], b[k], pair);
  }
  for (std::size_t k = 0; k < n; ++k)
    v[k] = rounded_sums(sums[k].low(), sums[k].high(), w.bits - job.fraction);
}

// The sums of the even and of the odd bytes of one vector, with 8 fractional bits. Each byte is put
// into the high half of its lane, so that the high half of its product is the term.
HWY_INLINE void sum_parts(const BlendBytes& job, std::size_t at, V16& even, V16& odd) {
  const DU16 du;
  const auto high = hn::Set(du, 0xFF00U);
  auto low_sum = hn::Set(du, static_cast<std::uint16_t>(1 << (7 - job.fraction)));
  auto high_sum = low_sum;
  for (std::int32_t t = 0; t < job.weights.taps; ++t) {
    const auto weight = hn::Set(du, job.weights.parts[t]);
    const auto unit = hn::BitCast(du, hn::LoadU(D8(), job.rows[t] + at));
    low_sum = hn::Add(low_sum, hn::MulHigh(hn::ShiftLeft<8>(unit), weight));
    high_sum = hn::Add(high_sum, hn::MulHigh(hn::And(unit, high), weight));
  }
  const auto result = [&](auto sum) {
    return hn::BitCast(D16(), job.fraction == 7 ? hn::ShiftRight<1>(sum) : hn::ShiftRight<2>(sum));
  };
  even = result(low_sum);
  odd = result(high_sum);
}

template <Split split>
HWY_INLINE void blend_some(const BlendBytes& job, std::size_t at, V16 (&v)[vectors_of(split)]) {
  if constexpr (split == Split::pairs) {
    sum_parts(job, at, v[0], v[1]);
  } else {
    static_assert(has_luma(split));
    constexpr std::size_t luma = split == Split::luma_first ? 0 : 2;
    sum_parts(job, at, v[luma], v[2 - luma]);
    sum_parts(job, at + 2 * hn::Lanes(D16()), v[luma + 1], v[3 - luma]);
  }
}

// Splits whose bytes are summed in their order in memory; the sums are split afterwards. Two steps
// of groups are done at once, as their bytes fill whole vectors.
constexpr bool sums_first(Split split) {
  return split == Split::whole || split == Split::triples || split == Split::quads;
}

template <Split split>
HWY_INLINE void blend_some_apart(const BlendBytes& job, const Lines& line, std::size_t x) {
  constexpr std::size_t n = vectors_of(split);
  const D16 d;
  const std::size_t lanes = hn::Lanes(d);
  V16 even, odd;
  if constexpr (n == 1) {
    sum_parts(job, x, even, odd);
    return hn::StoreInterleaved2(even, odd, d, line.out0 + x);
  }
  HWY_ALIGN std::int16_t sums[HWY_MAX_BYTES * n];
  for (std::size_t k = 0; k < n; ++k) {
    sum_parts(job, x * n + 2 * lanes * k, even, odd);
    hn::StoreInterleaved2(even, odd, d, sums + 2 * lanes * k);
  }
  for (std::size_t half = 0; half < 2; ++half) {
    const std::int16_t* from = sums + half * n * lanes;
    V16 v[n];
    if constexpr (n == 3) hn::LoadInterleaved3(d, from, v[0], v[1], v[2]);
    if constexpr (n == 4) hn::LoadInterleaved4(d, from, v[0], v[1], v[2], v[3]);
    store_groups<split>(v, line, x + half * lanes);
  }
}

enum class Way : std::uint8_t { one, two, some, many };

// `second`: the weight of the second row, for Way::two.
template <Split split, Way way>
HWY_INLINE void blend_at(const BlendBytes& job, const Lines& line, int fraction, V16 second,
                         std::size_t x) {
  constexpr std::size_t n = vectors_of(split);
  const std::size_t at = x * n;
  V16 v[n];
  if constexpr (way == Way::some) {
    blend_some<split>(job, at, v);
  } else if constexpr (way == Way::many) {
    blend_many<split>(job, at, v);
  } else {
    load_groups<split>(line.row0 + at, v);
    for (V16& each : v)
      each = shifted(each, fraction);
    if constexpr (way == Way::two) {
      V16 other[n];
      load_groups<split>(line.row1 + at, other);
      for (std::size_t k = 0; k < n; ++k)
        v[k] = blend_rows(v[k], shifted(other[k], fraction), second);
    }
  }
  store_groups<split>(v, line, x);
}

// ---- one sample at a time: rows shorter than a vector ----------------------------------------

int blend_one(const BlendBytes& job, std::size_t at) {
  const VerticalWeights& w = job.weights;
  const int first = job.rows[0][at] << job.fraction;
  if (w.taps == 1) return first;
  if (w.second != 0) {
    const int step = (job.rows[1][at] << job.fraction) - first;
    return first + ((step * w.second + (1 << 14)) >> 15);
  }
  if (w.parts != nullptr) {
    std::uint32_t sum = 1U << (7 - job.fraction);
    for (std::int32_t t = 0; t < w.taps; ++t)
      sum += (std::uint32_t{job.rows[t][at]} << 8) * w.parts[t] >> 16;
    return static_cast<int>(sum >> (8 - job.fraction));
  }
  const int shift = w.bits - job.fraction;
  int sum = 1 << (shift - 1);
  for (std::int32_t t = 0; t < w.taps; ++t)
    sum += job.rows[t][at] * w.pairs[t];
  return std::clamp(sum >> shift, -32768, 32767);
}

void blend_one_group(const BlendBytes& job, std::size_t x) {
  const std::size_t bytes = group_bytes(job.split);
  for (std::size_t i = 0; i < bytes; ++i) {
    std::size_t row = i;
    std::size_t to = x;
    if (has_luma(job.split)) {
      const bool luma = (i % 2 == 0) == (job.split == Split::luma_first);
      row = luma ? 0 : 1 + i / 2;
      if (luma) to = 2 * x + i / 2;
    }
    if (job.out[row] != nullptr)
      job.out[row][to] = static_cast<std::int16_t>(blend_one(job, x * bytes + i));
  }
}

// ---- whole rows ------------------------------------------------------------------------------

template <Split split, Way way>
void blend_row(const BlendBytes& job) {
  const Lines line = lines_of(job);
  const int fraction = job.fraction;
  const V16 second = hn::Set(D16(), job.weights.second);
  constexpr bool apart = way == Way::some && sums_first(split);
  const std::size_t step = (apart ? 2 : 1) * hn::Lanes(D16());  // luma: four bytes to a group
  const auto groups = static_cast<std::size_t>(job.groups);
  const auto blend = [&](std::size_t x) HWY_ATTR {
    if constexpr (apart) {
      blend_some_apart<split>(job, line, x);
    } else {
      blend_at<split, way>(job, line, fraction, second, x);
    }
  };
  std::size_t x = 0;
  for (; x + step <= groups; x += step)
    blend(x);
  if (x == groups) return;
  if (groups >= step) return blend(groups - step);
  for (; x < groups; ++x)
    blend_one_group(job, x);
}

template <Split split>
void blend_split(const BlendBytes& job) {
  if (job.weights.taps == 1) return blend_row<split, Way::one>(job);
  if (job.weights.second != 0) return blend_row<split, Way::two>(job);
  if (job.weights.parts != nullptr) return blend_row<split, Way::some>(job);
  blend_row<split, Way::many>(job);
}

}  // namespace

void BlendBytesRow(const BlendBytes& job) {
  switch (job.split) {
    case Split::whole:
      return blend_split<Split::whole>(job);
    case Split::pairs:
      return blend_split<Split::pairs>(job);
    case Split::triples:
      return blend_split<Split::triples>(job);
    case Split::quads:
      return blend_split<Split::quads>(job);
    case Split::luma_first:
      return blend_split<Split::luma_first>(job);
    case Split::luma_last:
      return blend_split<Split::luma_last>(job);
  }
}

namespace {

template <bool fine>
V16 many_samples(const BlendSamples& job, std::size_t x) {
  const D16 d;
  const VerticalWeights& w = job.weights;
  Sums sums, parts;
  V32 low = hn::Zero(D32());
  V32 high = low;
  const V32 half_part = hn::Set(D32(), 1 << 5);
  for (std::int32_t t = 0; t < w.taps; t += 2) {
    const V16 a = hn::LoadU(d, job.rows[t] + x);
    const V16 b = hn::LoadU(d, job.rows[std::min(t + 1, w.taps - 1)] + x);
    sums.add(a, b, weight_pair(w.pairs + t));
    if constexpr (fine) {
      parts.add(a, b, weight_pair(w.fine + t));
      if ((t + 2) % fold_rows == 0 || t + 2 >= w.taps) {
        low = hn::Add(low, hn::ShiftRight<6>(hn::Add(parts.low(), half_part)));
        high = hn::Add(high, hn::ShiftRight<6>(hn::Add(parts.high(), half_part)));
        parts = Sums();
      }
    }
  }
  return rounded_sums(hn::Add(low, sums.low()), hn::Add(high, sums.high()), w.bits);
}

}  // namespace

void BlendSamplesRow(const BlendSamples& job) {
  const D16 d;
  const auto samples = static_cast<std::size_t>(job.samples);
  const std::size_t lanes = hn::Lanes(d);
  std::int16_t* out = job.out;
  if (job.weights.second != 0) {
    const V16 weight = hn::Set(d, job.weights.second);
    const std::int16_t* first = job.rows[0];
    const std::int16_t* second = job.rows[1];
    for (std::size_t x = 0; x < samples; x += lanes)
      hn::StoreU(blend_rows(hn::LoadU(d, first + x), hn::LoadU(d, second + x), weight), d, out + x);
  } else if (job.weights.fine == nullptr) {
    for (std::size_t x = 0; x < samples; x += lanes)
      hn::StoreU(many_samples<false>(job, x), d, out + x);
  } else {
    for (std::size_t x = 0; x < samples; x += lanes)
      hn::StoreU(many_samples<true>(job, x), d, out + x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(BlendBytesRow);
HWY_EXPORT(BlendSamplesRow);

void blend_bytes(const BlendBytes& job) {
  HWY_DYNAMIC_DISPATCH(BlendBytesRow)(job);
}

void blend_samples(const BlendSamples& job) {
  HWY_DYNAMIC_DISPATCH(BlendSamplesRow)(job);
}

}  // namespace halyard::image
#endif
