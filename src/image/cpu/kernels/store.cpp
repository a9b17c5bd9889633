// SPDX-License-Identifier: Apache-2.0
// Stores rows of results. Values are signed 16-bit fixed point and not negative: at most 255 * 2^7
// < 2^15. Float results: value * scale + bias in single precision, the product rounded before the
// sum, then rounded to the stored type, ties to even; integers are clamped before unless `narrow`.
// Codes of luma and chroma: sums of two values fit unsigned 16 bits, sums of four 32 bits.
#include "image/cpu/kernels/store.h"

#include <algorithm>
#include <cstring>

// Enables the portable target. GCC before 12.3 gets its high halves of products wrong; this file
// has none.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/store.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::ScalableTag<std::uint16_t>;
using D32 = hn::ScalableTag<std::int32_t>;
using DU32 = hn::ScalableTag<std::uint32_t>;
using DFloat = hn::ScalableTag<float>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;
using VU32 = hn::Vec<DU32>;
using VFloat = hn::Vec<DFloat>;

// ---- sources: elements of one channel at pixel x ---------------------------------------------

template <class Tag>
struct Codes {
  using D = Tag;
  using V = hn::Vec<D>;
  const std::uint8_t* from;
  V flip;
  Codes(const StoreJob& job, std::size_t k) : from(job.codes[k]), flip(hn::Set(D(), job.flip[k])) {}
  HWY_INLINE V operator()(std::size_t x) const { return hn::Xor(hn::LoadU(D(), from + x), flip); }
};

struct Floats {
  using D = DFloat;
  const std::int16_t* from;
  VFloat scale, bias;
  Floats(const StoreJob& job, std::size_t k)
      : from(job.values[k]),
        scale(hn::Set(DFloat(), job.scale[k])),
        bias(hn::Set(DFloat(), job.bias[k])) {}
  HWY_INLINE VFloat map(hn::Vec<D32> values) const {
    return hn::Add(hn::Mul(hn::ConvertTo(DFloat(), values), scale), bias);
  }
  HWY_INLINE VFloat operator()(std::size_t x) const {
    const hn::Rebind<std::int16_t, D32> half;
    return map(hn::PromoteTo(D32(), hn::LoadU(half, from + x)));
  }
};

// Elements of 16 bits made by `Round`, which returns them in the low halves of 32-bit lanes. Pixels
// of even and of odd columns are computed apart, so that nothing crosses lanes.
template <class Round>
struct Shorts {
  using D = D16;
  Floats floats;
  Round round;
  Shorts(const StoreJob& job, std::size_t k) : floats(job, k) {}
  HWY_INLINE V16 operator()(std::size_t x) const {
    const DU32 d32;
    const auto pairs = hn::BitCast(d32, hn::LoadU(hn::RebindToSigned<D16>(), floats.from + x));
    const auto even = hn::BitCast(D32(), hn::And(pairs, hn::Set(d32, 0xFFFFU)));
    const auto odd = hn::BitCast(D32(), hn::ShiftRight<16>(pairs));
    const auto low = hn::BitCast(D16(), round(floats.map(even)));
    const auto high = hn::BitCast(D16(), hn::ShiftLeft<16>(round(floats.map(odd))));
    return hn::OddEven(high, low);
  }
};

struct RoundToBf16 {
  HWY_INLINE VU32 operator()(VFloat value) const {
    const DU32 d;
    const auto bits = hn::BitCast(d, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
    return hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(d, 0x7FFFU)), odd));
  }
};

// Adding 1.5 * 2^23 leaves the nearest integer, ties to even, in the low half of the bits. Values
// are clamped first, unless all results fit that half in any case.
template <int lowest, int highest, bool clamps>
struct RoundToInteger {
  VFloat low, high, magic;
  RoundToInteger()
      : low(hn::Set(DFloat(), lowest)),
        high(hn::Set(DFloat(), highest)),
        magic(hn::Set(DFloat(), 12582912.0F)) {}
  HWY_INLINE VU32 operator()(VFloat value) const {
    if constexpr (clamps) value = hn::Min(hn::Max(value, low), high);
    return hn::BitCast(DU32(), hn::Add(value, magic));
  }
};

// T: int8_t or uint8_t.
template <class T, bool clamps>
struct Bytes {
  using D = D8;
  Shorts<RoundToInteger<hwy::LimitsMin<T>(), hwy::LimitsMax<T>(), clamps>> shorts;
  Bytes(const StoreJob& job, std::size_t k) : shorts(job, k) {}
  HWY_INLINE V8 operator()(std::size_t x) const {
    const auto low = shorts(x);
    const auto high = shorts(x + hn::Lanes(D16()));
    if constexpr (clamps) {
      return hn::ConcatEven(D8(), hn::BitCast(D8(), high), hn::BitCast(D8(), low));
    } else {
      const hn::RebindToSigned<D16> wide;
      const hn::Rebind<T, D16> half;
      const hn::Repartition<T, D8> whole;
      return hn::BitCast(D8(), hn::Combine(whole, hn::DemoteTo(half, hn::BitCast(wide, high)),
                                           hn::DemoteTo(half, hn::BitCast(wide, low))));
    }
  }
};

#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_ARCH_ARM_A64
struct Halves {
  using D = D16;
  Floats floats;
  Halves(const StoreJob& job, std::size_t k) : floats(job, k) {}
  HWY_INLINE V16 operator()(std::size_t x) const {
    const hn::Rebind<hwy::float16_t, DFloat> half;
    const hn::Rebind<std::uint16_t, DFloat> bits;
    const auto low = hn::BitCast(bits, hn::DemoteTo(half, floats(x)));
    const auto high = hn::BitCast(bits, hn::DemoteTo(half, floats(x + hn::Lanes(DFloat()))));
    return hn::Combine(D16(), high, low);
  }
};
#else
struct RoundToF16 {
  HWY_INLINE VU32 operator()(VFloat value) const {
    const DU32 d;
    const DFloat f;
    const auto bits = hn::BitCast(d, value);
    const auto magnitude = hn::And(bits, hn::Set(d, 0x7FFFFFFFU));
    // Normal numbers: the exponent bias changes and 13 bits are rounded off, ties to even; the
    // result is at most infinity.
    const auto whole = hn::Sub(magnitude, hn::Set(d, 112U << 23));
    const auto odd = hn::And(hn::ShiftRight<13>(whole), hn::Set(d, 1));
    const auto rounded = hn::ShiftRight<13>(hn::Add(hn::Add(whole, hn::Set(d, 0xFFFU)), odd));
    // Subnormal numbers: the last bit of a float between 0.5 and 1 is worth 2^-24.
    const auto half = hn::Set(f, 0.5F);
    const auto small =
        hn::Sub(hn::BitCast(d, hn::Add(hn::BitCast(f, magnitude), half)), hn::BitCast(d, half));
    const auto is_small =
        hn::RebindMask(d, hn::Lt(hn::BitCast(f, magnitude), hn::Set(f, 0x1p-14F)));
    const auto result = hn::IfThenElse(is_small, small, hn::Min(rounded, hn::Set(d, 0x7C00U)));
    return hn::Or(result, hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 0x8000U)));
  }
};
using Halves = Shorts<RoundToF16>;
#endif

// ---- layouts ---------------------------------------------------------------------------------

// Calls at(x, to) for whole vectors of `lanes` pixels of `channels` elements. The last vector
// overlaps the one before; a row shorter than a vector is written through a buffer.
template <class T, class At>
HWY_INLINE void for_vectors(std::size_t width, std::size_t lanes, std::size_t channels,
                            std::byte* out, const At& at) {
  HWY_ALIGN T rest[HWY_MAX_BYTES / sizeof(T) * 4];
  const bool is_short = width < lanes;
  T* const to = is_short ? rest : reinterpret_cast<T*>(out);
  const std::size_t last = is_short ? 0 : width - lanes;
  for (std::size_t start = 0; start < width; start += lanes) {
    const std::size_t x = std::min(start, last);
    at(x, to + x * channels);
  }
  if (is_short) std::memcpy(out, rest, width * channels * sizeof(T));
}

// One function for each source and layout: with sanitizers, a single function for all of them would
// take compilers minutes.
template <class Source, std::size_t channels>
HWY_NOINLINE void store_channels(const StoreJob& job) {
  const typename Source::D d;
  using T = hn::TFromD<typename Source::D>;
  const auto width = static_cast<std::size_t>(job.width);
  const std::size_t lanes = hn::Lanes(d);
  const Source s0(job, 0);
  const Source s1(job, channels > 1 ? 1 : 0);
  const Source s2(job, channels > 2 ? 2 : 0);
  const Source s3(job, channels > 3 ? 3 : 0);
  for_vectors<T>(width, lanes, channels, job.out, [&](std::size_t x, T* to) {
    if constexpr (channels == 1) hn::StoreU(s0(x), d, to);
    if constexpr (channels == 2) hn::StoreInterleaved2(s0(x), s1(x), d, to);
    if constexpr (channels == 3) hn::StoreInterleaved3(s0(x), s1(x), s2(x), d, to);
    if constexpr (channels == 4) hn::StoreInterleaved4(s0(x), s1(x), s2(x), s3(x), d, to);
  });
}

template <class Source>
void store_as(const StoreJob& job) {
  if (job.channels == 1) return store_channels<Source, 1>(job);
  if (job.channels == 3) return store_channels<Source, 3>(job);
  store_channels<Source, 4>(job);
}

void StoreCodes(const StoreJob& job) {
  // Four channels would cross the blocks of 512-bit vectors too often.
  if (job.channels == 4) return store_channels<Codes<hn::CappedTag<std::uint8_t, 32>>, 4>(job);
  if (job.channels == 1) return store_channels<Codes<D8>, 1>(job);
  if (job.channels == 2) return store_channels<Codes<D8>, 2>(job);
  store_channels<Codes<D8>, 3>(job);
}

template <bool clamps>
void store_integers(const StoreJob& job, DType dtype) {
  if (dtype == DType::u8) return store_as<Bytes<std::uint8_t, clamps>>(job);
  if (dtype == DType::i8) return store_as<Bytes<std::int8_t, clamps>>(job);
  store_as<Shorts<RoundToInteger<0, 65535, clamps>>>(job);
}

void StoreValues(const StoreJob& job, DType dtype) {
  switch (dtype) {
    case DType::f16:
      return store_as<Halves>(job);
    case DType::bf16:
      return store_as<Shorts<RoundToBf16>>(job);
    case DType::f32:
      return store_as<Floats>(job);
    default:
      job.narrow ? store_integers<false>(job, dtype) : store_integers<true>(job, dtype);
  }
}

// ---- subsampled YUV --------------------------------------------------------------------------

void StoreLuma(const std::int16_t* values, int fraction, std::int32_t width, std::byte* out) {
  const D8 d8;
  const D16 d16;
  const auto half = hn::Set(d16, static_cast<std::uint16_t>(1U << fraction >> 1));
  const auto codes = [&](std::size_t x) {
    const auto row = hn::BitCast(d16, hn::LoadU(hn::RebindToSigned<D16>(), values + x));
    return hn::BitCast(d8, hn::ShiftRightSame(hn::Add(row, half), fraction));
  };
  for_vectors<std::uint8_t>(static_cast<std::size_t>(width), hn::Lanes(d8), 1, out,
                            [&](std::size_t x, std::uint8_t* to) {
                              const auto low = codes(x);
                              const auto high = codes(x + hn::Lanes(d16));
                              hn::StoreU(hn::ConcatEven(d8, high, low), d8, to);
                            });
}

// Means of whole blocks from block x on; single(): of a last block of one column.
class Means {
 public:
  Means(const BlockJob& job, std::size_t k)
      : above_(job.rows[k][0]), below_(job.rows[k][1]), fraction_(job.fraction) {}
  HWY_INLINE VU32 operator()(std::size_t x) const {
    const DU32 d32;
    const hn::RebindToSigned<D16> d16;
    const auto both =
        hn::BitCast(d32, hn::Add(hn::LoadU(d16, above_ + 2 * x), hn::LoadU(d16, below_ + 2 * x)));
    const auto sum = hn::Add(hn::And(both, hn::Set(d32, 0xFFFFU)), hn::ShiftRight<16>(both));
    return hn::ShiftRightSame(hn::Add(sum, hn::Set(d32, 2U << fraction_)), fraction_ + 2);
  }
  std::uint32_t single(std::size_t column) const {
    const int sum = above_[column] + below_[column];
    return static_cast<std::uint32_t>((sum + (1 << fraction_)) >> (fraction_ + 1));
  }

 private:
  const std::int16_t* above_;
  const std::int16_t* below_;
  int fraction_;
};

// Calls at(block, to) for vectors of whole blocks, then last() for an odd column.
template <class T, class At, class Last>
HWY_INLINE void for_store_blocks(std::int32_t width, std::byte* out, const At& at,
                                 const Last& last) {
  const auto columns = static_cast<std::size_t>(width);
  for_vectors<T>(columns / 2, hn::Lanes(DU32()), 1, out, at);
  if (columns % 2 == 0) return;
  const T value = last(columns - 1);
  std::memcpy(out + columns / 2 * sizeof(T), &value, sizeof value);
}

void StoreChroma(const BlockJob& job) {
  const hn::Rebind<std::uint8_t, DU32> quarter;
  const Means means(job, 0);
  for_store_blocks<std::uint8_t>(
      job.width, job.out,
      [&](std::size_t x, std::uint8_t* to) {
        hn::StoreU(hn::TruncateTo(quarter, means(x)), quarter, to);
      },
      [&](std::size_t column) { return static_cast<std::uint8_t>(means.single(column)); });
}

void StoreChromaPairs(const BlockJob& job) {
  const hn::Rebind<std::uint16_t, DU32> half;
  const Means first(job, 0);
  const Means second(job, 1);
  for_store_blocks<std::uint16_t>(
      job.width, job.out,
      [&](std::size_t x, std::uint16_t* to) {
        const auto pair = hn::Or(first(x), hn::ShiftLeft<8>(second(x)));
        hn::StoreU(hn::TruncateTo(half, pair), half, to);
      },
      [&](std::size_t column) {
        return static_cast<std::uint16_t>(first.single(column) | second.single(column) << 8);
      });
}

void StorePacked(const BlockJob& job, const std::int16_t* luma, int luma_at,
                 std::array<int, 2> chroma_at) {
  const DU32 d;
  const Means first(job, 0);
  const Means second(job, 1);
  const int shifts[] = {8 * luma_at, 8 * chroma_at[0], 8 * chroma_at[1]};
  const int half = 1 << job.fraction >> 1;
  for_store_blocks<std::uint32_t>(
      job.width, job.out,
      [&](std::size_t x, std::uint32_t* to) {
        const D16 d16;
        const auto row = hn::BitCast(d16, hn::LoadU(hn::RebindToSigned<D16>(), luma + 2 * x));
        const auto rounded = hn::Add(row, hn::Set(d16, static_cast<std::uint16_t>(half)));
        const auto both = hn::BitCast(d, hn::ShiftRightSame(rounded, job.fraction));
        const auto chroma =
            hn::Or(hn::ShiftLeftSame(first(x), shifts[1]), hn::ShiftLeftSame(second(x), shifts[2]));
        hn::StoreU(hn::Or(hn::ShiftLeftSame(both, shifts[0]), chroma), d, to);
      },
      [&](std::size_t column) {
        const auto code = static_cast<std::uint32_t>((luma[column] + half) >> job.fraction);
        return (code | code << 16) << shifts[0] | first.single(column) << shifts[1] |
               second.single(column) << shifts[2];
      });
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(StoreCodes);
HWY_EXPORT(StoreValues);
HWY_EXPORT(StoreLuma);
HWY_EXPORT(StoreChroma);
HWY_EXPORT(StoreChromaPairs);
HWY_EXPORT(StorePacked);

void store_codes(const StoreJob& job) {
  HWY_DYNAMIC_DISPATCH(StoreCodes)(job);
}

void store_values(const StoreJob& job, DType dtype) {
  HWY_DYNAMIC_DISPATCH(StoreValues)(job, dtype);
}

void store_luma(const std::int16_t* values, int fraction, std::int32_t width, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(StoreLuma)(values, fraction, width, out);
}

void store_chroma(const BlockJob& job) {
  HWY_DYNAMIC_DISPATCH(StoreChroma)(job);
}

void store_chroma_pairs(const BlockJob& job) {
  HWY_DYNAMIC_DISPATCH(StoreChromaPairs)(job);
}

void store_packed(const BlockJob& job, const std::int16_t* luma, int luma_at,
                  std::array<int, 2> chroma_at) {
  HWY_DYNAMIC_DISPATCH(StorePacked)(job, luma, luma_at, chroma_at);
}

}  // namespace halyard::image
#endif
