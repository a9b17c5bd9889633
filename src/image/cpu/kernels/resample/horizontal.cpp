// SPDX-License-Identifier: Apache-2.0
// The horizontal pass in integers: the same bits on every target. Samples are signed 16-bit with 7
// or 6 fractional bits, weights 16-bit with 14. Sums are 32-bit: the absolute weights of an output
// sum to less than 2, so that a sum stays below 2^15 * 2^14 * 2 = 2^30. It is rounded, halves up,
// and saturates to 16 bits. Bytes need no more than two taps and keep 14 - fraction bits to round.
#include "image/cpu/kernels/resample/horizontal.h"

#include <algorithm>
#include <cstring>

// Uses the portable vector target instead of the scalar one, which cannot shuffle.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/resample/horizontal.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define HALYARD_PERMUTES 1
#include "image/cpu/kernels/resample/permute-inl.h"
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

constexpr int weight_bits = HorizontalTable::weight_bits;
constexpr std::size_t blocks_of_vector = HWY_MAX_BYTES / 16;
constexpr std::size_t group = horizontal_group;
constexpr std::size_t group_blocks = horizontal_group / 4;

// Loads 16 bytes per block, from `in` + base[block], into one vector.
template <class T>
HWY_INLINE hn::Vec<hn::ScalableTag<T>> load_tap_blocks(const T* in, const std::int32_t* base) {
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

// Products of samples and weights, summed in pairs of neighbours.
HWY_INLINE V32 weigh_samples(V16 samples, const std::int16_t* weights) {
  V32 odd = hn::Zero(D32());
  const V32 product = hn::ReorderWidenMulAccumulate(D32(), samples, hn::LoadU(D16(), weights),
                                                    hn::Zero(D32()), odd);
  return hn::RearrangeToOddPlusEven(product, odd);
}

// Rounds the sums of even and of odd blocks and packs them to a row of outputs.
HWY_INLINE void store_sums(V32 even, V32 odd, int shift, std::int16_t* out) {
  const V32 half = hn::Set(D32(), 1 << (shift - 1));
  const V16 packed = hn::ReorderDemote2To(D16(), hn::ShiftRightSame(hn::Add(even, half), shift),
                                          hn::ShiftRightSame(hn::Add(odd, half), shift));
  hn::StoreU(packed, D16(), out);
}

// Calls at(i, out) with i the first place of each vector of even blocks; the odd blocks are four
// places behind.
template <class At>
HWY_INLINE void for_tap_blocks(const HorizontalTable& table, std::int16_t* out, const At& at) {
  const auto outputs = static_cast<std::size_t>(table.outputs);
  for (std::size_t x = 0; x < outputs; x += 8 * blocks_of_vector)
    at(x / group * group_blocks + x % group / 8, out + x);
}

template <bool wide, int pairs>
void resample_blocks(const std::int16_t* in, const HorizontalTable& table, std::int16_t* out) {
  const D8 d8;
  const std::int32_t* base = table.base.data();
  const std::uint8_t* control = table.control.data();
  const std::int16_t* weights = table.weights.data();
  const std::size_t high_half = wide ? table.control.size() / 2 : 0;
  const std::size_t weight_stride = table.weights.size() / pairs;
  const auto sum_at = [&](std::size_t i) {
    const auto low_control = hn::LoadU(d8, control + 16 * i);
    auto high_control = low_control;
    if constexpr (wide) high_control = hn::LoadU(d8, control + high_half + 16 * i);
    const auto weighed = [&](std::size_t p) {
      const auto low = hn::BitCast(d8, load_tap_blocks(in + 2 * p, base + i));
      auto taps = hn::TableLookupBytesOr0(low, low_control);
      if constexpr (wide) {
        const auto high = hn::BitCast(d8, load_tap_blocks(in + 2 * p + 8, base + i));
        taps = hn::Or(taps, hn::TableLookupBytesOr0(high, high_control));
      }
      return weigh_samples(hn::BitCast(D16(), taps), weights + p * weight_stride + 8 * i);
    };
    V32 sum = weighed(0);
    if constexpr (pairs > 1) sum = hn::Add(sum, weighed(1));
    if constexpr (pairs > 2) sum = hn::Add(sum, weighed(2));
    return sum;
  };
  for_tap_blocks(table, out, [&](std::size_t i, std::int16_t* to) {
    store_sums(sum_at(i), sum_at(i + 4), weight_bits, to);
  });
}

// The sums of the four lanes of each block of a, b, c and d.
HWY_INLINE V32 sum_blocks(V32 a, V32 b, V32 c, V32 d) {
  const D32 d32;
  const hn::ScalableTag<std::int64_t> d64;
  const auto ab =
      hn::BitCast(d64, hn::Add(hn::InterleaveLower(d32, a, b), hn::InterleaveUpper(d32, a, b)));
  const auto cd =
      hn::BitCast(d64, hn::Add(hn::InterleaveLower(d32, c, d), hn::InterleaveUpper(d32, c, d)));
  return hn::Add(hn::BitCast(d32, hn::InterleaveLower(d64, ab, cd)),
                 hn::BitCast(d32, hn::InterleaveUpper(d64, ab, cd)));
}

// `once`: there is one chunk.
template <bool once>
void resample_dots(const std::int16_t* in, const HorizontalTable& table, std::int16_t* out) {
  const auto chunks = static_cast<std::size_t>(table.chunks);
  const std::size_t weight_stride = table.weights.size() / chunks;
  const auto sum_at = [&](std::size_t i) {
    const std::int32_t* base = table.base.data() + i;
    const std::int16_t* weights = table.weights.data() + 8 * i;
    V32 sum[4];
    for (std::size_t k = 0; k < 4; ++k)
      sum[k] = weigh_samples(load_tap_blocks(in, base + 4 * k), weights + 32 * k);
    if constexpr (!once) {
      for (std::size_t p = 1; p < chunks; ++p) {
        for (std::size_t k = 0; k < 4; ++k) {
          const V16 samples = load_tap_blocks(in + 8 * p, base + 4 * k);
          sum[k] = hn::Add(sum[k], weigh_samples(samples, weights + p * weight_stride + 32 * k));
        }
      }
    }
    return sum_blocks(sum[0], sum[1], sum[2], sum[3]);
  };
  const auto outputs = static_cast<std::size_t>(table.outputs);
  for (std::size_t x = 0; x < outputs; x += 8 * blocks_of_vector) {
    const std::size_t i = x / group * group + x % group / 8;
    store_sums(sum_at(i), sum_at(i + 16), weight_bits, out + x);
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

// The fine sums of this many taps stay below 2^31; the sums of the weights always do.
constexpr std::size_t fold_taps = 1024;

void resample_many(const std::int16_t* in, const HorizontalTable& table, std::int16_t* out) {
  const auto taps = static_cast<std::size_t>(table.taps);
  for (std::size_t x = 0; x < static_cast<std::size_t>(table.outputs); ++x) {
    const std::int16_t* samples = in + table.base[x];
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

void pick_bytes(const std::uint8_t* in, const HorizontalTable& table, int fraction,
                std::int16_t* out) {
  const D8 d8;
  const std::int32_t* base = table.byte_base.data();
  const std::uint8_t* pick = table.pick.data();
  for_tap_blocks(table, out, [&](std::size_t i, std::int16_t* to) {
    const auto even =
        hn::TableLookupBytesOr0(load_tap_blocks(in, base + i), hn::LoadU(d8, pick + 16 * i));
    const auto odd = hn::TableLookupBytesOr0(load_tap_blocks(in, base + i + 4),
                                             hn::LoadU(d8, pick + 16 * i + 64));
    const V16 samples = hn::BitCast(D16(), hn::Or(even, odd));
    hn::StoreU(fraction == 7 ? hn::ShiftLeft<7>(samples) : hn::ShiftLeft<6>(samples), D16(), to);
  });
}

}  // namespace

// (a * 2^f * w + b * 2^f * v + 2^13) / 2^14 without the common factor 2^f: the same bits as
// ResampleRow() gives for bytes that were converted to samples.
void ResampleBytes(const std::uint8_t* in, const HorizontalTable& table, int fraction,
                   std::int16_t* out) {
#if HALYARD_PERMUTES
  if (table.byte_permute.group != 0)
    return permutes::permute_bytes(in, table.byte_permute, fraction, out);
#endif
  if (!table.pick.empty()) return pick_bytes(in, table, fraction, out);
  const D8 d8;
  const std::int32_t* base = table.byte_base.data();
  const std::uint8_t* control = table.byte_control.data();
  const std::int16_t* weights = table.weights.data();
  const auto sum_at = [&](std::size_t i) {
    const auto taps =
        hn::TableLookupBytesOr0(load_tap_blocks(in, base + i), hn::LoadU(d8, control + 16 * i));
    return weigh_samples(hn::BitCast(D16(), taps), weights + 8 * i);
  };
  for_tap_blocks(table, out, [&](std::size_t i, std::int16_t* to) {
    store_sums(sum_at(i), sum_at(i + 4), weight_bits - fraction, to);
  });
}

void ResampleRow(const std::int16_t* in, const HorizontalTable& table, std::int16_t* out) {
#if HALYARD_PERMUTES
  if (table.permute.group != 0) return permutes::permute_row(in, table.permute, out);
#endif
  constexpr auto narrow_of = [](std::int32_t pairs) {
    if (pairs == 1) return &resample_blocks<false, 1>;
    return pairs == 2 ? &resample_blocks<false, 2> : &resample_blocks<false, 3>;
  };
  switch (table.mode) {
    case HorizontalTable::Mode::narrow:
      return narrow_of(table.pairs)(in, table, out);
    case HorizontalTable::Mode::wide:
      return table.pairs == 1 ? resample_blocks<true, 1>(in, table, out)
                              : resample_blocks<true, 2>(in, table, out);
    case HorizontalTable::Mode::dots:
      return table.chunks == 1 ? resample_dots<true>(in, table, out)
                               : resample_dots<false>(in, table, out);
    case HorizontalTable::Mode::many:
      return resample_many(in, table, out);
    case HorizontalTable::Mode::identity:
    case HorizontalTable::Mode::permuted:
      break;
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

void resample_row(const std::int16_t* in, const HorizontalTable& table, std::int16_t* out) {
  HWY_DYNAMIC_DISPATCH(ResampleRow)(in, table, out);
}

void resample_bytes(const std::uint8_t* in, const HorizontalTable& table, int fraction,
                    std::int16_t* out) {
  HWY_DYNAMIC_DISPATCH(ResampleBytes)(in, table, fraction, out);
}

}  // namespace halyard::image
#endif
