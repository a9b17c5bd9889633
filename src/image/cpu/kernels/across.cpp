// SPDX-License-Identifier: Apache-2.0
// Resamples rows in integers: the same bits on every target.
#include "image/cpu/kernels/across.h"

#include <algorithm>
#include <cstring>

// Byte shuffles over blocks of a known count of vectors need fixed-size targets.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
// The portable target instead of the one of single lanes, which cannot shuffle.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/across.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define HALYARD_PERMUTES 1
#include "image/cpu/kernels/permute-inl.h"
#else
#define HALYARD_PERMUTES 0
#endif

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::ScalableTag<std::int16_t>;
using D32 = hn::ScalableTag<std::int32_t>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

constexpr int weight_bits = AcrossTable::weight_bits;
constexpr std::size_t blocks_of_vector = HWY_MAX_BYTES / 16;

// One 16-byte load per block, from `in` + base[block], into one vector.
template <class T>
HWY_INLINE hn::Vec<hn::ScalableTag<T>> load_blocks(const T* in, const std::int32_t* base) {
  const hn::Full128<T> block;
#if HWY_MAX_BYTES == 16
  return hn::LoadU(block, in + base[0]);
#else
  const hn::Full256<T> d256;
  const auto low =
      hn::Combine(d256, hn::LoadU(block, in + base[1]), hn::LoadU(block, in + base[0]));
#if HWY_MAX_BYTES == 32
  return low;
#else
  const auto high =
      hn::Combine(d256, hn::LoadU(block, in + base[3]), hn::LoadU(block, in + base[2]));
  return hn::Combine(hn::ScalableTag<T>(), high, low);
#endif
#endif
}

HWY_INLINE V32 weigh(V16 pairs, const std::int16_t* weights, V32 sum) {
  V32 odd = hn::Zero(D32());
  const V32 product =
      hn::ReorderWidenMulAccumulate(D32(), pairs, hn::LoadU(D16(), weights), hn::Zero(D32()), odd);
  return hn::Add(sum, hn::RearrangeToOddPlusEven(product, odd));
}

HWY_INLINE void store_sums(V32 sum, std::int16_t* out) {
  const hn::Rebind<std::int16_t, D32> half;
  hn::StoreU(hn::DemoteTo(half, hn::ShiftRight<weight_bits>(sum)), half, out);
}

// Outputs of whole vectors; the rows' spare samples take what lies behind the last.
template <bool wide>
void resample_blocks(const std::int16_t* in, const AcrossTable& table, std::int16_t* out) {
  const D8 d8;
  const std::size_t count = static_cast<std::size_t>(table.outputs + 3) / 4;
  const std::int32_t* base = table.base.data();
  const std::uint8_t* control = table.control.data();
  const std::int16_t* weights = table.weights.data();
  const std::size_t high_half = wide ? table.control.size() / 2 : 0;
  const auto pairs = static_cast<std::size_t>(table.pairs);
  const std::size_t weight_stride = table.weights.size() / pairs;
  for (std::size_t i = 0; i < count; i += blocks_of_vector) {
    const auto low_control = hn::LoadU(d8, control + 16 * i);
    auto high_control = low_control;
    if constexpr (wide) high_control = hn::LoadU(d8, control + high_half + 16 * i);
    V32 sum = hn::Set(D32(), 1 << (weight_bits - 1));
    for (std::size_t p = 0; p < pairs; ++p) {
      const auto low = hn::BitCast(d8, load_blocks(in + 2 * p, base + i));
      auto taps = hn::TableLookupBytesOr0(low, low_control);
      if constexpr (wide) {
        const auto high = hn::BitCast(d8, load_blocks(in + 2 * p + 8, base + i));
        taps = hn::Or(taps, hn::TableLookupBytesOr0(high, high_control));
      }
      sum = weigh(hn::BitCast(D16(), taps), weights + p * weight_stride + 8 * i, sum);
    }
    store_sums(sum, out + 4 * i);
  }
}

void resample_apart(const std::int16_t* in, const AcrossTable& table, std::int16_t* out) {
  const D32 d32;
  const std::size_t lanes = hn::Lanes(d32);
  const auto pairs = static_cast<std::size_t>(table.pairs);
  const std::size_t weight_stride = table.weights.size() / pairs;
  HWY_ALIGN std::int32_t each[HWY_MAX_BYTES / 4];
  for (std::size_t x = 0; x < static_cast<std::size_t>(table.outputs); x += lanes) {
    V32 sum = hn::Set(d32, 1 << (weight_bits - 1));
    for (std::size_t p = 0; p < pairs; ++p) {
      for (std::size_t i = 0; i < lanes; ++i)
        std::memcpy(each + i, in + table.first[x + i] + 2 * p, 4);
      const auto taps = hn::BitCast(D16(), hn::Load(d32, each));
      sum = weigh(taps, table.weights.data() + p * weight_stride + 2 * x, sum);
    }
    store_sums(sum, out + x);
  }
}

HWY_INLINE std::int32_t dot(const std::int16_t* samples, const std::int16_t* weights,
                            std::size_t taps) {
  const D16 d;
  V32 sum = hn::Zero(D32());
  V32 other = sum;
  for (std::size_t t = 0; t < taps; t += hn::Lanes(d)) {
    sum = hn::ReorderWidenMulAccumulate(D32(), hn::LoadU(d, samples + t), hn::LoadU(d, weights + t),
                                        sum, other);
  }
  return hn::GetLane(hn::SumOfLanes(D32(), hn::Add(sum, other)));
}

// The fine sums of this many taps stay below 2^31; those of the weights always do.
constexpr std::size_t fold_taps = 1024;

void resample_many(const std::int16_t* in, const AcrossTable& table, std::int16_t* out) {
  const auto taps = static_cast<std::size_t>(table.taps);
  for (std::size_t x = 0; x < static_cast<std::size_t>(table.outputs); ++x) {
    const std::int16_t* samples = in + table.first[x];
    const std::int16_t* weights = table.weights.data() + x * taps;
    const std::int16_t* fine = table.fine.data() + x * taps;
    std::int32_t sum = 1 << (weight_bits - 1);
    for (std::size_t t = 0; t < taps; t += fold_taps) {
      const std::size_t some = std::min(fold_taps, taps - t);
      sum += dot(samples + t, weights + t, some);
      sum += (dot(samples + t, fine + t, some) + (1 << 5)) >> 6;
    }
    out[x] = static_cast<std::int16_t>(std::clamp(sum >> weight_bits, -32768, 32767));
  }
}

}  // namespace

// (a * 2^f * w + b * 2^f * v + 2^13) / 2^14 without the common factor: the bits of the rows.
void ResampleBytes(const std::uint8_t* in, const AcrossTable& table, int fraction,
                   std::int16_t* out) {
#if HALYARD_PERMUTES
  if (table.byte_permute.group != 0)
    return permutes::resample_bytes(in, table.byte_permute, fraction, out);
#endif
  const D8 d8;
  const std::size_t count = static_cast<std::size_t>(table.outputs + 3) / 4;
  const std::int32_t* base = table.byte_base.data();
  const std::uint8_t* control = table.byte_control.data();
  const std::int16_t* weights = table.weights.data();
  const int shift = weight_bits - fraction;
  const V32 half = hn::Set(D32(), 1 << (shift - 1));
  const hn::Rebind<std::int16_t, D32> narrow;
  for (std::size_t i = 0; i < count; i += blocks_of_vector) {
    const auto samples = load_blocks(in, base + i);
    const auto taps = hn::TableLookupBytesOr0(samples, hn::LoadU(d8, control + 16 * i));
    const V32 sum = weigh(hn::BitCast(D16(), taps), weights + 8 * i, half);
    hn::StoreU(hn::DemoteTo(narrow, hn::ShiftRightSame(sum, shift)), narrow, out + 4 * i);
  }
}

void ResampleRow(const std::int16_t* in, const AcrossTable& table, std::int16_t* out) {
#if HALYARD_PERMUTES
  if (table.permute.group != 0) return permutes::resample_row(in, table.permute, out);
#endif
  switch (table.mode) {
    case AcrossTable::Mode::narrow:
      return resample_blocks<false>(in, table, out);
    case AcrossTable::Mode::wide:
      return resample_blocks<true>(in, table, out);
    case AcrossTable::Mode::many:
      return resample_many(in, table, out);
    default:
      return resample_apart(in, table, out);
  }
}

bool TakesPermutes() {
  return HALYARD_PERMUTES != 0;
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();
#undef HALYARD_PERMUTES

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(ResampleRow);
HWY_EXPORT(ResampleBytes);
HWY_EXPORT(TakesPermutes);

bool takes_permutes() {
  return HWY_DYNAMIC_DISPATCH(TakesPermutes)();
}

void resample_row(const std::int16_t* in, const AcrossTable& table, std::int16_t* out) {
  HWY_DYNAMIC_DISPATCH(ResampleRow)(in, table, out);
}

void resample_bytes(const std::uint8_t* in, const AcrossTable& table, int fraction,
                    std::int16_t* out) {
  HWY_DYNAMIC_DISPATCH(ResampleBytes)(in, table, fraction, out);
}

}  // namespace halyard::image
#endif
