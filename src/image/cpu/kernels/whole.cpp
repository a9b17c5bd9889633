// SPDX-License-Identifier: Apache-2.0
// Sums of bytes with whole weights: integers, the same on every target.
#include "image/cpu/kernels/whole.h"

#include <algorithm>
#include <cstring>

// Blocks of 16 bytes need fixed-size targets.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
// The portable target instead of the one of single lanes, which cannot shuffle.
#define HWY_BROKEN_EMU128 0
// Has permutations of bytes, which are what this is about.
#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/whole.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Without permutations of 64 bytes two blocks are loaded at a time.
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

// Both bytes of each lane times their weights, summed: below 2^15.
HWY_INLINE V16 sums_of_pairs(V8 bytes, V16 weights) {
#if HWY_TARGET == HWY_AVX3_DL
  return V16{_mm512_maddubs_epi16(bytes.raw, weights.raw)};
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return V16{_mm256_maddubs_epi16(bytes.raw, weights.raw)};
#elif HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
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

template <int windows>
struct Picker {
  V8 index;
  std::size_t step;

  HWY_INLINE explicit Picker(const WholeTable& t)
      : index(hn::LoadU(D8(), t.index.data())),
        step(static_cast<std::size_t>(t.block_bytes) * 4 / windows) {}
  HWY_INLINE V8 operator()(const std::uint8_t* from) const {
    __m512i v = _mm512_permutexvar_epi8(index.raw, _mm512_loadu_si512(from));
    constexpr __mmask64 all = ~__mmask64{0};
    constexpr int lanes = 64 / windows;
    const auto add_window = [&](int w) HWY_ATTR {
      v = _mm512_mask_permutexvar_epi8(
          v, all << (w * lanes), index.raw,
          _mm512_loadu_si512(from + static_cast<std::size_t>(w) * step));
    };
    if constexpr (windows > 1) add_window(1);
    if constexpr (windows > 2) add_window(2), add_window(3);
    return V8{v};
  }
};

#else

template <int loads>
struct Picker {
  std::size_t step;
  V8 control[loads];

  HWY_INLINE explicit Picker(const WholeTable& t) : step(static_cast<std::size_t>(t.block_bytes)) {
    for (std::size_t i = 0; i < loads; ++i)
      control[i] = same_in_blocks(t.control[i].data());
  }
  HWY_INLINE V8 blocks_at(const std::uint8_t* from) const {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    const hn::Half<D8> half;
    return hn::Combine(D8(), hn::LoadU(half, from + step), hn::LoadU(half, from));
#else
    return hn::LoadU(D8(), from);
#endif
  }
  HWY_INLINE V8 operator()(const std::uint8_t* from) const {
    V8 v = hn::TableLookupBytesOr0(blocks_at(from), control[0]);
    for (std::size_t i = 1; i < loads; ++i)
      v = hn::Or(v, hn::TableLookupBytesOr0(blocks_at(from + 16 * i), control[i]));
    return v;
  }
};

#endif

// `known`: count of pairs, 0 for any: their weights stay in registers then.
template <int parts, int known>
struct Sums {
  Picker<parts> pick;
  V16 weights[known == 0 ? WholeTable::most_pairs : known];
  std::size_t pairs;
  std::size_t pair_bytes;

  HWY_INLINE explicit Sums(const WholeTable& t)
      : pick(t),
        pairs(static_cast<std::size_t>(known == 0 ? t.pairs : known)),
        pair_bytes(static_cast<std::size_t>(t.pair_bytes)) {
    for (std::size_t p = 0; p < pairs; ++p)
      weights[p] = hn::BitCast(D16(), same_in_blocks(t.weights[p].data()));
  }
  HWY_INLINE V16 at(const std::uint8_t* from) const {
    V16 sum = sums_of_pairs(pick(from), weights[0]);
    for (std::size_t p = 1; p < pairs; ++p)
      sum = hn::Add(sum, sums_of_pairs(pick(from + p * pair_bytes), weights[p]));
    return sum;
  }
};

// ---- rows of blocks to rows of channels ------------------------------------------------------

// As many vectors as a block has channels.
template <int channels, class D>
HWY_INLINE void store_channels(D d, const hn::Vec<D> (&v)[channels],
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

template <int parts, int known>
void sums_row(const WholeTable& t, const std::uint8_t* from, std::int16_t* out) {
  const Sums<parts, known> sums(t);
  const std::size_t step = static_cast<std::size_t>(t.block_bytes) * blocks_at_once;
  const std::int16_t* const end = out + static_cast<std::size_t>(t.blocks) * 8;
  for (; out != end; out += 8 * blocks_at_once) {
    hn::StoreU(sums.at(from), D16(), out);
    from += step;
  }
}

template <int parts, int channels>
void samples_row(const WholeTable& t, const std::uint8_t* from, int shift,
                 const std::array<std::int16_t*, 4>& given) {
  const std::array<std::int16_t*, 4> out{given[0], given[1], given[2], given[3]};
  const Sums<parts, 1> sums(t);
  const std::size_t step = static_cast<std::size_t>(t.block_bytes) * blocks_at_once;
  const std::size_t end = static_cast<std::size_t>(t.blocks) * 8 / channels;
  for (std::size_t x = 0; x < end; x += 8 * blocks_at_once) {
    V16 v[channels];
    for (V16& each : v) {
      each = hn::ShiftLeftSame(sums.at(from), shift);
      from += step;
    }
    store_channels<channels>(D16(), v, out, x);
  }
}

template <int parts>
void sums_of(const WholeTable& t, const std::uint8_t* from, std::int16_t* out) {
  if (t.pairs == 1) return sums_row<parts, 1>(t, from, out);
  if (t.pairs == 2) return sums_row<parts, 2>(t, from, out);
  if (t.pairs == 3) return sums_row<parts, 3>(t, from, out);
  sums_row<parts, 0>(t, from, out);
}

template <int parts>
void samples_of(const WholeTable& t, const std::uint8_t* from, int shift,
                const std::array<std::int16_t*, 4>& out) {
  if (t.channels == 1) return samples_row<parts, 1>(t, from, shift, out);
  if (t.channels == 2) return samples_row<parts, 2>(t, from, shift, out);
  samples_row<parts, 4>(t, from, shift, out);
}

constexpr std::int32_t parts_of(const WholeTable& t) {
  return HWY_TARGET == HWY_AVX3_DL ? t.windows : t.loads;
}

// ---- blends ----------------------------------------------------------------------------------

using DWide = hn::ScalableTag<std::int16_t>;
using VWide = hn::Vec<DWide>;

// `known`: count of rows, 0 for any.
template <int known, int channels>
void blend_row(const WholeBlend& job) {
  const DWide d;
  const std::array<std::int16_t*, 4> out{job.out[0], job.out[1], job.out[2], job.out[3]};
  const std::int16_t* rows[WholeBlend::most_rows];
  VWide weights[WholeBlend::most_rows];
  const auto taps = static_cast<std::size_t>(known == 0 ? job.taps : known);
  for (std::size_t t = 0; t < taps; ++t) {
    rows[t] = job.rows[t];
    weights[t] = hn::Set(d, job.weights[t]);
  }
  const int shift = job.shift;
  const VWide scale = hn::Set(d, job.scale);
  const bool plain = job.scale == -32768;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t end = static_cast<std::size_t>(job.blocks) * 8;
  for (std::size_t x = 0; x < end;) {
    VWide v[channels];
    for (VWide& each : v) {
      VWide sum = hn::Mul(hn::LoadU(d, rows[0] + x), weights[0]);
      for (std::size_t t = 1; t < taps; ++t)
        sum = hn::Add(sum, hn::Mul(hn::LoadU(d, rows[t] + x), weights[t]));
      sum = hn::ShiftLeftSame(sum, shift);
      each = plain ? sum : hn::Add(hn::Add(sum, sum), hn::MulFixedPoint15(sum, scale));
      x += lanes;
    }
    store_channels<channels>(d, v, out, x / channels - lanes);
  }
}

template <int channels>
void blend_rows(const WholeBlend& job) {
  if (job.taps == 2) return blend_row<2, channels>(job);
  if (job.taps == 3) return blend_row<3, channels>(job);
  if (job.taps == 5) return blend_row<5, channels>(job);
  blend_row<0, channels>(job);
}

}  // namespace

void WholeSums(const WholeTable& t, const std::uint8_t* from, std::int16_t* out) {
  const std::int32_t parts = parts_of(t);
  if (parts == 1) return sums_of<1>(t, from, out);
  if (parts == 2) return sums_of<2>(t, from, out);
#if HWY_TARGET != HWY_AVX3_DL
  if (parts == 3) return sums_of<3>(t, from, out);
#endif
  sums_of<4>(t, from, out);
}

void WholeSamples(const WholeTable& t, const std::uint8_t* from, int shift,
                  const std::array<std::int16_t*, 4>& out) {
  const std::int32_t parts = parts_of(t);
  if (parts == 1) return samples_of<1>(t, from, shift, out);
  if (parts == 2) return samples_of<2>(t, from, shift, out);
#if HWY_TARGET != HWY_AVX3_DL
  if (parts == 3) return samples_of<3>(t, from, shift, out);
#endif
  samples_of<4>(t, from, shift, out);
}

void WholeBlendRows(const WholeBlend& job) {
  if (job.channels == 1) return blend_rows<1>(job);
  if (job.channels == 2) return blend_rows<2>(job);
  blend_rows<4>(job);
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(WholeSums);
HWY_EXPORT(WholeSamples);
HWY_EXPORT(WholeBlendRows);

std::int32_t whole_reach(const WholeTable& t) noexcept {
  const std::int32_t pairs = (t.pairs - 1) * t.pair_bytes;
  const std::int32_t shuffled = (t.blocks - 1) * t.block_bytes + 16 * t.loads;
  const std::int32_t permuted =
      (t.blocks - 4) * t.block_bytes + (t.windows - 1) * (4 / t.windows) * t.block_bytes + 64;
  return pairs + std::max(shuffled, permuted);
}

void whole_sums(const WholeTable& table, const std::uint8_t* from, std::int16_t* out) {
  HWY_DYNAMIC_DISPATCH(WholeSums)(table, from, out);
}

void whole_samples(const WholeTable& table, const std::uint8_t* from, int shift,
                   const std::array<std::int16_t*, 4>& out) {
  HWY_DYNAMIC_DISPATCH(WholeSamples)(table, from, shift, out);
}

void whole_blend(const WholeBlend& job) {
  HWY_DYNAMIC_DISPATCH(WholeBlendRows)(job);
}

}  // namespace halyard::image
#endif
