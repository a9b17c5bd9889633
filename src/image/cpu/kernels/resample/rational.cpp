// SPDX-License-Identifier: Apache-2.0
// Integer-ratio resize of rows of bytes: the same bits on every target. Weights are integers that
// are not negative; over all rows and taps of an output they sum to at most 128, so that a sum of
// bytes is at most 128 * 255 < 2^15. The shift brings the sum of weights into (64, 128] and the
// scale multiplies by less than 2, to 128 / sum. Samples have 7 fractional bits: at most 255 * 2^7.
#include "image/cpu/kernels/resample/rational.h"

#include <algorithm>
#include <cstring>

// Uses the portable vector target instead of the scalar one, which cannot shuffle.
#define HWY_BROKEN_EMU128 0
// Asks for the target with permutations of bytes, which this kernel gains most from.
#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/resample/rational.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Without permutations of 64 bytes, two blocks at most are loaded at a time.
#if HWY_TARGET == HWY_AVX3_DL
constexpr std::size_t sum_bytes = 64;
#else
constexpr std::size_t sum_bytes = HWY_MIN(HWY_MAX_BYTES, 32);
#endif
using D8 = hn::CappedTag<std::uint8_t, sum_bytes>;
using D16 = hn::Repartition<std::int16_t, D8>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;
constexpr std::size_t blocks_at_once = sum_bytes / 16;

HWY_INLINE V8 same_in_blocks(const void* sixteen) {
  return hn::LoadDup128(D8(), static_cast<const std::uint8_t*>(sixteen));
}

// The sum of both bytes of each lane times their weights: below 2^15.
HWY_INLINE V16 sums_of_pairs(V8 bytes, V16 weights) {
#if HWY_TARGET == HWY_AVX3_DL
  return V16{_mm512_maddubs_epi16(bytes.raw, weights.raw)};
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return V16{_mm256_maddubs_epi16(bytes.raw, weights.raw)};
#elif HWY_TARGET == HWY_SSE4
  return V16{_mm_maddubs_epi16(bytes.raw, weights.raw)};
#else
  const hn::RebindToUnsigned<D16> du;
  const D16 d;
  const auto both = hn::BitCast(du, bytes);
  const V16 first = hn::BitCast(d, hn::And(both, hn::Set(du, 0xFF)));
  const V16 second = hn::BitCast(d, hn::ShiftRight<8>(both));
  const V16 low = hn::And(weights, hn::Set(d, 0xFF));  // weights are not negative
  return hn::Add(hn::Mul(first, low), hn::Mul(second, hn::ShiftRight<8>(weights)));
#endif
}

// ---- the bytes of one vector of sums ---------------------------------------------------------

#if HWY_TARGET == HWY_AVX3_DL

// All pairs of taps of a block lie in the same windows.
template <int windows, int pairs>
struct RationalSums {
  V8 index[pairs];
  V16 weights[pairs];
  std::size_t step;

  HWY_INLINE explicit RationalSums(const RationalTable& t)
      : step(static_cast<std::size_t>(t.block_bytes) * 4 / windows) {
    for (std::size_t p = 0; p < pairs; ++p) {
      const auto moved = static_cast<std::uint8_t>(p * static_cast<std::size_t>(t.pair_bytes));
      index[p] = hn::Add(hn::LoadU(D8(), t.index.data()), hn::Set(D8(), moved));
      weights[p] = hn::BitCast(D16(), same_in_blocks(t.weights[p].data()));
    }
  }
  HWY_INLINE V16 at(const std::uint8_t* from) const {
    __m512i window[windows];
    for (std::size_t w = 0; w < windows; ++w)
      window[w] = _mm512_loadu_si512(from + w * step);
    V16 sum = hn::Zero(D16());
    for (std::size_t p = 0; p < pairs; ++p) {
      __m512i v = _mm512_permutexvar_epi8(index[p].raw, window[0]);
      constexpr std::size_t lanes = 64 / windows;
      for (std::size_t w = 1; w < windows; ++w) {
        const __mmask64 behind = ~__mmask64{0} << (w * lanes);
        v = _mm512_mask_permutexvar_epi8(v, behind, index[p].raw, window[w]);
      }
      const V16 pair = sums_of_pairs(V8{v}, weights[p]);
      sum = p == 0 ? pair : hn::Add(sum, pair);
    }
    return sum;
  }
};

#else

// Blocks are shuffled from 16 bytes at a time. Known counts of 0: the table's counts are used.
template <int known_loads, int known_pairs>
struct RationalSums {
  V8 control[known_loads == 0 ? RationalTable::max_loads : known_loads];
  V16 weights[known_pairs == 0 ? RationalTable::max_pairs : known_pairs];
  std::size_t loads;
  std::size_t pairs;
  std::size_t step;
  std::size_t pair_bytes;

  HWY_INLINE explicit RationalSums(const RationalTable& t)
      : loads(static_cast<std::size_t>(known_loads == 0 ? t.loads : known_loads)),
        pairs(static_cast<std::size_t>(known_pairs == 0 ? t.pairs : known_pairs)),
        step(static_cast<std::size_t>(t.block_bytes)),
        pair_bytes(static_cast<std::size_t>(t.pair_bytes)) {
    for (std::size_t i = 0; i < loads; ++i)
      control[i] = same_in_blocks(t.control[i].data());
    for (std::size_t p = 0; p < pairs; ++p)
      weights[p] = hn::BitCast(D16(), same_in_blocks(t.weights[p].data()));
  }
  HWY_INLINE V8 blocks_at(const std::uint8_t* from) const {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    const hn::Half<D8> half;
    return hn::Combine(D8(), hn::LoadU(half, from + step), hn::LoadU(half, from));
#else
    return hn::LoadU(D8(), from);
#endif
  }
  HWY_INLINE V8 pick(const std::uint8_t* from) const {
    V8 v = hn::TableLookupBytesOr0(blocks_at(from), control[0]);
    for (std::size_t i = 1; i < loads; ++i)
      v = hn::Or(v, hn::TableLookupBytesOr0(blocks_at(from + 16 * i), control[i]));
    return v;
  }
  HWY_INLINE V16 at(const std::uint8_t* from) const {
    V16 sum = sums_of_pairs(pick(from), weights[0]);
    for (std::size_t p = 1; p < pairs; ++p)
      sum = hn::Add(sum, sums_of_pairs(pick(from + p * pair_bytes), weights[p]));
    return sum;
  }
};

#endif

// ---- rows of blocks to rows of channels ------------------------------------------------------

// Stores as many vectors as a block has channels.
template <int channels, class D>
HWY_INLINE void store_rational_sums(D d, const hn::Vec<D> (&v)[channels],
                                    const std::array<std::int16_t*, 4>& out, std::size_t x) {
  const auto store = [&](hn::Vec<D> row, std::size_t c) HWY_ATTR {
    if (out[c] != nullptr) hn::StoreU(row, d, out[c] + x);
  };
  if constexpr (channels == 1) {
    store(v[0], 0);
  } else if constexpr (channels == 2) {
    const hn::Repartition<std::uint64_t, D> unit;
    const auto a = hn::BitCast(unit, v[0]);
    const auto b = hn::BitCast(unit, v[1]);
    store(hn::BitCast(d, hn::ConcatEven(unit, b, a)), 0);
    store(hn::BitCast(d, hn::ConcatOdd(unit, b, a)), 1);
  } else {
    const hn::Repartition<std::uint32_t, D> unit;
    const auto even = [&](auto low, auto high) HWY_ATTR { return hn::ConcatEven(unit, high, low); };
    const auto odd = [&](auto low, auto high) HWY_ATTR { return hn::ConcatOdd(unit, high, low); };
    const auto a = hn::BitCast(unit, v[0]);
    const auto b = hn::BitCast(unit, v[1]);
    const auto e = hn::BitCast(unit, v[2]);
    const auto f = hn::BitCast(unit, v[3]);
    const auto first = even(a, b);
    const auto second = even(e, f);
    const auto third = odd(a, b);
    const auto fourth = odd(e, f);
    store(hn::BitCast(d, even(first, second)), 0);
    store(hn::BitCast(d, even(third, fourth)), 1);
    store(hn::BitCast(d, odd(first, second)), 2);
    store(hn::BitCast(d, odd(third, fourth)), 3);
  }
}

template <int parts, int channels>
void samples_row(const RationalTable& t, const std::uint8_t* from, int shift,
                 const std::array<std::int16_t*, 4>& given) {
  const std::array<std::int16_t*, 4> out = given;
  const RationalSums<parts, 1> sums(t);
  const std::size_t step = static_cast<std::size_t>(t.block_bytes) * blocks_at_once;
  const std::size_t end = static_cast<std::size_t>(t.blocks) * 8 / channels;
  for (std::size_t x = 0; x < end; x += 8 * blocks_at_once) {
    V16 v[channels];
    for (V16& each : v) {
      each = hn::ShiftLeftSame(sums.at(from), shift);
      from += step;
    }
    store_rational_sums<channels>(D16(), v, out, x);
  }
}

template <int parts>
void sum_samples(const RationalTable& t, const std::uint8_t* from, int shift,
                 const std::array<std::int16_t*, 4>& out) {
  if (t.channels == 1) return samples_row<parts, 1>(t, from, shift, out);
  if (t.channels == 2) return samples_row<parts, 2>(t, from, shift, out);
  samples_row<parts, 4>(t, from, shift, out);
}

constexpr std::int32_t parts_of(const RationalTable& t) {
  return HWY_TARGET == HWY_AVX3_DL ? t.windows : t.loads;
}

// ---- several rows ----------------------------------------------------------------------------

// `known`: the count of rows, 0 for any.
template <int parts, int pairs, int channels, int known>
void rows_to_samples(const RationalTable& t, const RationalRows& job) {
  const D16 d;
  const RationalSums<parts, pairs> sums(t);
  const std::array<std::int16_t*, 4> out = *job.out;
  const std::uint8_t* rows[2 * RationalRows::max_rows];  // doubled: not unrolled
  V16 now_weights[2 * RationalRows::max_rows];
  V16 next_weights[2 * RationalRows::max_rows];
  const std::size_t count = known == 0 ? job.count : known;
  for (std::size_t i = 0; i < count; ++i) {
    rows[i] = job.rows[i];
    now_weights[i] = hn::Set(d, job.now[i]);
    next_weights[i] = hn::Set(d, job.next[i]);
  }
  const std::size_t alone = job.alone;
  const int shift = job.shift;
  const bool plain = job.scale == -32768;
  const V16 scale = hn::Set(d, job.scale);
  std::int16_t* carry = job.carry;
  const std::size_t step = static_cast<std::size_t>(t.block_bytes) * blocks_at_once;
  const std::size_t end = static_cast<std::size_t>(t.blocks) * 8 / channels;
  std::size_t at = 0;
  for (std::size_t x = 0; x < end; x += 8 * blocks_at_once) {
    V16 v[channels];
    for (V16& each : v) {
      V16 now = hn::Load(d, carry);
      V16 next = hn::Zero(d);
      for (std::size_t i = 0; i < count; ++i) {
        const V16 sum = sums.at(rows[i] + at);
        now = hn::Add(now, hn::Mul(sum, now_weights[i]));
        if (i >= alone) next = hn::Add(next, hn::Mul(sum, next_weights[i]));
      }
      hn::Store(next, d, carry);
      now = hn::ShiftLeftSame(now, shift);
      each = plain ? now : hn::Add(hn::Add(now, now), hn::MulFixedPoint15(now, scale));
      carry += 8 * blocks_at_once;
      at += step;
    }
    store_rational_sums<channels>(d, v, out, x);
  }
}

template <int parts, int pairs, int channels>
void rows_of_channels(const RationalTable& t, const RationalRows& job) {
  // Separate loops for the counts of rows that common camera and network sizes need.
  if constexpr (pairs != 0 && pairs < 3 && channels < 4) {
    if (job.count == 1) return rows_to_samples<parts, pairs, channels, 1>(t, job);
    if (job.count == 2) return rows_to_samples<parts, pairs, channels, 2>(t, job);
  }
  if constexpr (pairs == 3 || (pairs == 2 && channels == 2)) {
    constexpr bool by_any = HWY_TARGET == HWY_AVX3_DL && channels == 1;  // as fast
    if constexpr (!by_any) {
      if (job.count == 3) return rows_to_samples<parts, pairs, channels, 3>(t, job);
    }
  }
  rows_to_samples<parts, pairs, channels, 0>(t, job);
}

template <int parts, int pairs>
void rows_of_pairs(const RationalTable& t, const RationalRows& job) {
  if (t.channels == 1) return rows_of_channels<parts, pairs, 1>(t, job);
  if (t.channels == 2) return rows_of_channels<parts, pairs, 2>(t, job);
  rows_of_channels<parts, pairs, 4>(t, job);
}

#if HWY_TARGET != HWY_EMU128
template <int parts>
void sum_rows(const RationalTable& t, const RationalRows& job) {
  if (t.pairs == 1) return rows_of_pairs<parts, 1>(t, job);
  if (t.pairs == 2) return rows_of_pairs<parts, 2>(t, job);
  rows_of_pairs<parts, 3>(t, job);
}
#endif

}  // namespace

// Portable code: one loop for all tables.
#if HWY_TARGET == HWY_EMU128

void RationalSamples(const RationalTable& t, const std::uint8_t* from, int shift,
                     const std::array<std::int16_t*, 4>& out) {
  sum_samples<0>(t, from, shift, out);
}

void RationalRowsOf(const RationalTable& t, const RationalRows& job) {
  rows_of_pairs<0, 0>(t, job);
}

#else

void RationalSamples(const RationalTable& t, const std::uint8_t* from, int shift,
                     const std::array<std::int16_t*, 4>& out) {
  const std::int32_t parts = parts_of(t);
  if (parts == 1) return sum_samples<1>(t, from, shift, out);
  if (parts == 2) return sum_samples<2>(t, from, shift, out);
#if HWY_TARGET != HWY_AVX3_DL
  if (parts == 3) return sum_samples<3>(t, from, shift, out);
#endif
  sum_samples<4>(t, from, shift, out);
}

void RationalRowsOf(const RationalTable& t, const RationalRows& job) {
  const std::int32_t parts = parts_of(t);
  if (parts == 1) return sum_rows<1>(t, job);
  if (parts == 2) return sum_rows<2>(t, job);
#if HWY_TARGET != HWY_AVX3_DL
  if (parts == 3) return sum_rows<3>(t, job);
#endif
  sum_rows<4>(t, job);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(RationalSamples);
HWY_EXPORT(RationalRowsOf);

std::int32_t rational_reach(const RationalTable& t) noexcept {
  const std::int32_t pairs = (t.pairs - 1) * t.pair_bytes;
  const std::int32_t shuffled = (t.blocks - 1) * t.block_bytes + 16 * t.loads;
  const std::int32_t permuted =
      (t.blocks - 4) * t.block_bytes + (t.windows - 1) * (4 / t.windows) * t.block_bytes + 64;
  return pairs + std::max(shuffled, permuted);
}

void rational_samples(const RationalTable& table, const std::uint8_t* from, int shift,
                      const std::array<std::int16_t*, 4>& out) {
  HWY_DYNAMIC_DISPATCH(RationalSamples)(table, from, shift, out);
}

void rational_rows(const RationalTable& table, const RationalRows& job) {
  HWY_DYNAMIC_DISPATCH(RationalRowsOf)(table, job);
}

}  // namespace halyard::image
#endif
