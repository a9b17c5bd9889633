// SPDX-License-Identifier: Apache-2.0
// Converts samples to fixed point, with the same bits on every target. Scaling: samples of up to 16
// bits are exact in single precision; the rounded product saturates to int16_t. Demosaic: the
// samples are not negative and are averaged in unsigned 16-bit lanes, which cannot overflow.
#include "image/cpu/kernels/read.h"

#include <algorithm>
#include <cstring>

// Uses the portable vector target instead of the scalar one, which cannot pack.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/read.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<std::int32_t>;
using DFloat = hn::ScalableTag<float>;
using D16 = hn::ScalableTag<std::int16_t>;
using DU16 = hn::RebindToUnsigned<D16>;
using VU16 = hn::Vec<DU16>;

// Converts samples of one type in vectors of 32-bit lanes; the last ones go through a buffer. For
// 16-bit samples: where a result is exactly half-way between two codes (`half_code` above the lower
// one) but its product is below, the result is reduced by one, so that it rounds down to the
// nearest code.
template <class T>
void scale_samples(const std::byte* in, std::size_t samples, float scale, std::int32_t half_code,
                   std::int16_t* out) {
  const D32 d32;
  const hn::Rebind<T, D32> narrow;
  const hn::Rebind<std::int16_t, D32> half;
  const auto factor = hn::Set(DFloat(), scale);
  const auto rounding = hn::Set(DFloat(), 0.5F);
  const auto tie = hn::Set(d32, half_code);
  const auto fraction = hn::Set(d32, 2 * half_code - 1);
  const auto convert = [&](const T* from, std::int16_t* to) {
    const auto value = hn::ConvertTo(DFloat(), hn::PromoteTo(d32, hn::LoadU(narrow, from)));
    const auto product = hn::Mul(value, factor);
    auto whole = hn::ConvertTo(d32, hn::Add(product, rounding));
    if constexpr (sizeof(T) == 2) {
      const auto is_half = hn::Eq(hn::And(whole, fraction), tie);
      const auto is_above = hn::RebindMask(d32, hn::Gt(hn::ConvertTo(DFloat(), whole), product));
      whole = hn::Add(whole, hn::VecFromMask(d32, hn::And(is_half, is_above)));
    }
    hn::StoreU(hn::DemoteTo(half, whole), half, to);
  };
  const std::size_t lanes = hn::Lanes(d32);
  std::size_t x = 0;
  for (; x + lanes <= samples; x += lanes) {
    convert(reinterpret_cast<const T*>(in + x * sizeof(T)), out + x);
  }
  if (x == samples) return;
  T buffer[HWY_MAX_BYTES / 4] = {};
  std::int16_t rest[HWY_MAX_BYTES / 4];
  std::memcpy(buffer, in + x * sizeof(T), (samples - x) * sizeof(T));
  convert(buffer, rest);
  std::memcpy(out + x, rest, (samples - x) * sizeof(std::int16_t));
}

HWY_INLINE VU16 load_samples(const std::int16_t* from) {
  return hn::LoadU(DU16(), reinterpret_cast<const std::uint16_t*>(from));
}
HWY_INLINE void store_samples(VU16 v, std::int16_t* to) {
  hn::StoreU(v, DU16(), reinterpret_cast<std::uint16_t*>(to));
}

}  // namespace

void ScaleBytes(const std::uint8_t* in, std::int32_t samples, float scale, std::int16_t* out) {
  scale_samples<std::uint8_t>(reinterpret_cast<const std::byte*>(in),
                              static_cast<std::size_t>(samples), scale, 0, out);
}

void ScaleWords(const std::byte* in, std::int32_t samples, float scale, int fraction,
                std::int16_t* out) {
  scale_samples<std::uint16_t>(in, static_cast<std::size_t>(samples), scale, 1 << (fraction - 1),
                               out);
}

void DemosaicRow(const MosaicRow& given) {
  const MosaicRow job = given;
  const DU16 d;
  for (std::size_t x = 0; x < static_cast<std::size_t>(job.samples); x += hn::Lanes(d)) {
    const VU16 centre = load_samples(job.here + x + 1);
    const VU16 row = hn::AverageRound(load_samples(job.here + x), load_samples(job.here + x + 2));
    const VU16 column =
        hn::AverageRound(load_samples(job.above + x + 1), load_samples(job.below + x + 1));
    const VU16 corners = hn::AverageRound(
        hn::AverageRound(load_samples(job.above + x), load_samples(job.above + x + 2)),
        hn::AverageRound(load_samples(job.below + x), load_samples(job.below + x + 2)));
    const VU16 ring = hn::AverageRound(row, column);
    // At a green sample: green is the sample, `beside` the mean of the row, `horizontal` the mean
    // of the column. Elsewhere: the mean of the four neighbours, the sample, the mean of the
    // corners.
    const auto choose = [&](VU16 at_green, VU16 at_other) {
      return job.green_first ? hn::OddEven(at_other, at_green) : hn::OddEven(at_green, at_other);
    };
    store_samples(choose(centre, ring), job.green + x);
    store_samples(choose(row, centre), job.beside + x);
    store_samples(choose(column, corners), job.other_rows + x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(ScaleBytes);
HWY_EXPORT(ScaleWords);
HWY_EXPORT(DemosaicRow);

void scale_bytes(const std::uint8_t* in, std::int32_t samples, float scale, std::int16_t* out) {
  HWY_DYNAMIC_DISPATCH(ScaleBytes)(in, samples, scale, out);
}

void scale_u16(const std::byte* in, std::int32_t samples, float scale, int fraction,
               std::int16_t* out) {
  HWY_DYNAMIC_DISPATCH(ScaleWords)(in, samples, scale, fraction, out);
}

void demosaic_row(const MosaicRow& job) {
  HWY_DYNAMIC_DISPATCH(DemosaicRow)(job);
}

}  // namespace halyard::image
#endif
