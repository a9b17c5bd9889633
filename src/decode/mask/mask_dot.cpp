// SPDX-License-Identifier: Apache-2.0
// Dot products of pixels and coefficients, compiled for each target. Floats are added in the order
// given in the header. Integers: int16 x int16 products, added in int32. They cannot overflow:
// LogitEngine uses integers only if channels x the largest product is below 2^30.
#include "decode/mask/mask_dot.h"

// Use the portable vector target instead of the scalar one, which cannot shuffle.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/mask/mask_dot.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace halyard::decode {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t partials = 16;
using Floats = hn::CappedTag<float, partials>;
using Integers = hn::RebindToSigned<Floats>;

// ---- planes of pixels: one lane per pixel ----

// Partial sums `first`, first + step, ... of two vectors of pixels, added in the order given in the
// header. K: number of channels if it is fixed; 0: `channels`.
template <std::size_t K, std::size_t first, std::size_t step, class D, class V>
HWY_INLINE void planar_sum(D d, const float* data, std::size_t stride, std::size_t channels,
                           const float* c, V& a, V& b) {
  const std::size_t count = K == 0 ? channels : K;
  if constexpr (step < partials) {
    planar_sum<K, first, step * 2>(d, data, stride, channels, c, a, b);
    V a2 = hn::Zero(d);
    V b2 = hn::Zero(d);
    planar_sum<K, first + step, step * 2>(d, data, stride, channels, c, a2, b2);
    a = hn::Add(a, a2);
    b = hn::Add(b, b2);
  } else {
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t k = first; k < count; k += partials) {
      const auto weight = hn::Set(d, c[k]);
      const float* row = data + k * stride;
      const auto pa = hn::Mul(weight, hn::LoadU(d, row));
      const auto pb = hn::Mul(weight, hn::LoadU(d, row + lanes));
      a = k == first ? pa : hn::Add(a, pa);
      b = k == first ? pb : hn::Add(b, pb);
    }
  }
}

template <std::size_t K>
void planar(const float* data, std::size_t stride, std::size_t channels, const float* c,
            std::size_t count, float* out) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < count; i += 2 * lanes) {
    auto a = hn::Zero(d);
    auto b = hn::Zero(d);
    planar_sum<K, 0, 1>(d, data + i, stride, channels, c, a, b);
    hn::StoreU(a, d, out + i);
    hn::StoreU(b, d, out + i + lanes);
  }
}

void dot_planar(const float* data, std::size_t stride, std::size_t channels, const float* c,
                std::size_t count, float* out) {
  if (channels == 32) return planar<32>(data, stride, channels, c, count, out);
  planar<0>(data, stride, channels, c, count, out);
}

void dot_pairs(const std::int16_t* data, std::size_t stride, std::size_t pairs,
               const std::int16_t* c, std::int32_t offset, std::size_t count, float* out) {
  const Floats d;
  const Integers di;
  const hn::Repartition<std::int16_t, Integers> d16;
  const std::size_t lanes = hn::Lanes(di);
  for (std::size_t i = 0; i < count; i += 2 * lanes) {
    auto a0 = hn::Set(di, offset);
    auto b0 = a0;
    auto a1 = hn::Zero(di);
    auto b1 = hn::Zero(di);
    for (std::size_t p = 0; p < pairs; ++p) {
      std::int32_t pair;
      std::memcpy(&pair, c + 2 * p, sizeof pair);
      const auto weight = hn::BitCast(d16, hn::Set(di, pair));
      const std::int16_t* row = data + 2 * (p * stride + i);
      a0 = hn::ReorderWidenMulAccumulate(di, hn::LoadU(d16, row), weight, a0, a1);
      b0 = hn::ReorderWidenMulAccumulate(di, hn::LoadU(d16, row + 2 * lanes), weight, b0, b1);
    }
    hn::StoreU(hn::ConvertTo(d, hn::RearrangeToOddPlusEven(a0, a1)), d, out + i);
    hn::StoreU(hn::ConvertTo(d, hn::RearrangeToOddPlusEven(b0, b1)), d, out + i + lanes);
  }
}

// ---- adjacent channels: one lane per channel; lanes are added at the end ----

// A block has 128 bits; shuffles stay inside it. Folds the two blocks of a into one, and those of
// b: pixel a is stored in even blocks, pixel b in odd ones.
template <class V>
HWY_INLINE V fold_blocks(V a, V b) {
  return hn::Add(hn::OddEvenBlocks(b, a), hn::SwapAdjacentBlocks(hn::OddEvenBlocks(a, b)));
}

// Partial sums of Lanes(d) / 4 pixels, one block each: block g is pixel first + 4 * g.
template <class D, class Partial>
HWY_INLINE hn::Vec<D> folded(D d, const Partial& partial, std::size_t first) {
  if constexpr (HWY_MAX_BYTES >= 64 && hn::MaxLanes(D()) == 16) {
    // First adds halves: [a low + a high, b low + b high], twice.
    const auto a = partial(first), b = partial(first + 8);
    const auto c = partial(first + 4), e = partial(first + 12);
    const auto ab = hn::Add(hn::ConcatLowerLower(d, b, a), hn::ConcatUpperUpper(d, b, a));
    const auto ce = hn::Add(hn::ConcatLowerLower(d, e, c), hn::ConcatUpperUpper(d, e, c));
    return fold_blocks(ab, ce);
  } else if constexpr (hn::MaxLanes(D()) == 8) {
    return fold_blocks(partial(first), partial(first + 4));
  } else {
    return partial(first);
  }
}

// One sum per lane, for Lanes(d) pixels.
template <class D, class Partial>
HWY_INLINE hn::Vec<D> sums(D d, const Partial& partial) {
  const hn::Repartition<std::uint64_t, D> d64;
  const auto pairs = [&](auto x, auto y) HWY_ATTR {
    const auto x64 = hn::BitCast(d64, x), y64 = hn::BitCast(d64, y);
    return hn::Add(hn::BitCast(d, hn::InterleaveLower(d64, x64, y64)),
                   hn::BitCast(d, hn::InterleaveUpper(d64, x64, y64)));
  };
  const auto p = pairs(folded(d, partial, 0), folded(d, partial, 2));
  const auto q = pairs(folded(d, partial, 1), folded(d, partial, 3));
  const auto low = hn::BitCast(d64, hn::InterleaveLower(d, p, q));
  const auto high = hn::BitCast(d64, hn::InterleaveUpper(d, p, q));
  return hn::Add(hn::BitCast(d, hn::InterleaveLower(d64, low, high)),
                 hn::BitCast(d, hn::InterleaveUpper(d64, low, high)));
}

template <class D>
HWY_INLINE hn::Vec<D> load_floats(D d, const float* at) {
  return hn::LoadU(d, at);
}
template <class D>
HWY_INLINE hn::Vec<D> load_floats(D d, const hwy::float16_t* at) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::float16_t, D>(), at));
}

// The 16 partial sums of one pixel, added to Lanes(d) of them.
template <std::size_t K, class D, class T>
HWY_INLINE hn::Vec<D> partial_floats(D d, const T* pixel, std::size_t channels, const float* c) {
  constexpr std::size_t lanes = hn::MaxLanes(D());
  const std::size_t count = K == 0 ? channels : K;
  const auto part = [&](std::size_t first) HWY_ATTR {
    auto sum = hn::Mul(load_floats(d, pixel + first), hn::LoadU(d, c + first));
    for (std::size_t k = first + partials; k < count; k += partials)
      sum = hn::Add(sum, hn::Mul(load_floats(d, pixel + k), hn::LoadU(d, c + k)));
    return sum;
  };
  if constexpr (lanes == 16) {
    return part(0);
  } else if constexpr (lanes == 8) {
    return hn::Add(part(0), part(8));
  } else {
    return hn::Add(hn::Add(part(0), part(8)), hn::Add(part(4), part(12)));
  }
}

// Calls vector(pixel, i) for each vector of pixels, starting at pixel i. pixel(j) is the address of
// the j-th one; past the end it is the address of the last pixel. dense: pixels are contiguous.
template <std::size_t K, bool dense, class T, class Vector>
HWY_INLINE void for_each_row_vector(const PackedRow& row, std::size_t count, std::size_t lanes,
                                    const Vector& vector) {
  const std::ptrdiff_t stride =
      dense ? static_cast<std::ptrdiff_t>(K * sizeof(T)) : row.stride_bytes;
  const std::byte* at = row.data;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes, at += static_cast<std::ptrdiff_t>(lanes) * stride) {
    vector(
        [&](std::size_t j) HWY_ATTR {
          return reinterpret_cast<const T*>(at + static_cast<std::ptrdiff_t>(j) * stride);
        },
        i);
  }
  if (i == count) return;
  const std::size_t last = count - i - 1;
  vector(
      [&](std::size_t j) HWY_ATTR {
        return reinterpret_cast<const T*>(at +
                                          static_cast<std::ptrdiff_t>(std::min(j, last)) * stride);
      },
      i);
}

template <std::size_t K, bool dense, class T>
void packed_floats(const PackedRow& row, const float* c, std::size_t count, float* out) {
  const Floats d;
  for_each_row_vector<K, dense, T>(row, count, hn::Lanes(d),
                                   [&](const auto& pixel, std::size_t i) HWY_ATTR {
                                     const auto partial = [&](std::size_t j) HWY_ATTR {
                                       return partial_floats<K>(d, pixel(j), row.channels, c);
                                     };
                                     hn::StoreU(sums(d, partial), d, out + i);
                                   });
}

template <class T>
void packed_floats(const PackedRow& row, const float* c, std::size_t count, float* out) {
  if (row.channels != 32) return packed_floats<0, false, T>(row, c, count, out);
  if (row.stride_bytes == 32 * sizeof(T)) return packed_floats<32, true, T>(row, c, count, out);
  packed_floats<32, false, T>(row, c, count, out);
}

template <class D, class T>
HWY_INLINE hn::Vec<D> load_i16(D d, const T* at) {
  if constexpr (sizeof(T) == 2) {
    return hn::LoadU(d, at);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), at));
  }
}

template <std::size_t K, bool dense, class T>
void packed_integers(const PackedRow& row, const std::int16_t* c, std::int32_t offset,
                     std::size_t count, float* out) {
  const Floats d;
  const Integers di;
  const hn::Repartition<std::int16_t, Integers> d16;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t channels = K == 0 ? row.channels : K;
  const auto plus = hn::Set(di, offset);
  for_each_row_vector<K, dense, T>(
      row, count, lanes, [&](const auto& pixel, std::size_t i) HWY_ATTR {
        const auto partial = [&](std::size_t j) HWY_ATTR {
          const T* at = pixel(j);
          auto sum0 = hn::Zero(di);
          auto sum1 = hn::Zero(di);
          for (std::size_t k = 0; k < channels; k += 2 * lanes) {
            sum0 = hn::ReorderWidenMulAccumulate(di, load_i16(d16, at + k), hn::LoadU(d16, c + k),
                                                 sum0, sum1);
          }
          return hn::Add(sum0, sum1);
        };
        hn::StoreU(hn::ConvertTo(d, hn::Add(sums(di, partial), plus)), d, out + i);
      });
}

template <class T>
void packed_integers(const PackedRow& row, const std::int16_t* c, std::int32_t offset,
                     std::size_t count, float* out) {
  if (row.channels != 32) return packed_integers<0, false, T>(row, c, offset, count, out);
  if (row.stride_bytes == 32 * sizeof(T))
    return packed_integers<32, true, T>(row, c, offset, count, out);
  packed_integers<32, false, T>(row, c, offset, count, out);
}

void packed_f32(const PackedRow& row, const float* c, std::size_t count, float* out) {
  packed_floats<float>(row, c, count, out);
}
void packed_f16(const PackedRow& row, const float* c, std::size_t count, float* out) {
  packed_floats<hwy::float16_t>(row, c, count, out);
}
void packed_i8(const PackedRow& row, const std::int16_t* c, std::int32_t offset, std::size_t count,
               float* out) {
  packed_integers<std::int8_t>(row, c, offset, count, out);
}
void packed_u8(const PackedRow& row, const std::int16_t* c, std::int32_t offset, std::size_t count,
               float* out) {
  packed_integers<std::uint8_t>(row, c, offset, count, out);
}
void packed_i16(const PackedRow& row, const std::int16_t* c, std::int32_t offset, std::size_t count,
                float* out) {
  packed_integers<std::int16_t>(row, c, offset, count, out);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::decode
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::decode {
namespace {
HWY_EXPORT(dot_planar);
HWY_EXPORT(dot_pairs);
HWY_EXPORT(packed_f32);
HWY_EXPORT(packed_f16);
HWY_EXPORT(packed_i8);
HWY_EXPORT(packed_u8);
HWY_EXPORT(packed_i16);
}  // namespace

void dot_planar(const float* data, std::size_t stride, std::size_t channels,
                const float* coefficients, std::size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(dot_planar)(data, stride, channels, coefficients, count, out);
}

void dot_pairs(const std::int16_t* data, std::size_t stride, std::size_t pairs,
               const std::int16_t* coefficients, std::int32_t offset, std::size_t count,
               float* out) {
  HWY_DYNAMIC_DISPATCH(dot_pairs)(data, stride, pairs, coefficients, offset, count, out);
}

bool packs(DType dtype, bool as_integers, std::size_t channels) noexcept {
  if (channels == 0 || channels % channel_padding != 0) return false;
  if (!as_integers) return dtype == DType::f32 || dtype == DType::f16;
  return dtype == DType::i8 || dtype == DType::u8 || dtype == DType::i16;
}

void dot_packed(const PackedRow& row, DType dtype, const float* coefficients, std::size_t count,
                float* out) {
  if (dtype == DType::f16) {
    HWY_DYNAMIC_DISPATCH(packed_f16)(row, coefficients, count, out);
  } else {
    HWY_DYNAMIC_DISPATCH(packed_f32)(row, coefficients, count, out);
  }
}

void dot_packed(const PackedRow& row, DType dtype, const std::int16_t* coefficients,
                std::int32_t offset, std::size_t count, float* out) {
  if (dtype == DType::i8) {
    HWY_DYNAMIC_DISPATCH(packed_i8)(row, coefficients, offset, count, out);
  } else if (dtype == DType::u8) {
    HWY_DYNAMIC_DISPATCH(packed_u8)(row, coefficients, offset, count, out);
  } else {
    HWY_DYNAMIC_DISPATCH(packed_i16)(row, coefficients, offset, count, out);
  }
}

}  // namespace halyard::decode
#endif
