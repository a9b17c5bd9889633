// SPDX-License-Identifier: Apache-2.0
// Bilinear sampling, threshold and sigmoid of float logits, compiled for each target. Each source
// row is resampled along x once, then blended in pairs: several target rows lie between two source
// rows. The sigmoid uses e^-|v| with |v| clamped to 80, so nothing overflows; bytes are 0..255.
#include "decode/mask/mask_sample.h"

// Use the portable vector target instead of the scalar one, which cannot shuffle.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/mask/mask_sample.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#include <algorithm>

#include "decode/head/exponential-inl.h"
#include "decode/mask/bilinear-inl.h"

HWY_BEFORE_NAMESPACE();
namespace halyard::decode {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Stores one byte per lane: all ones if the mask is set, else 0.
template <class D, class M>
HWY_INLINE void store_bytes(D /*d*/, M mask, std::uint8_t* out) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  // Sixteen lanes: makes bytes from the mask register instead of packing 32-bit lanes twice.
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_movm_epi8(mask.raw));
#else
  const hn::RebindToSigned<D> di;
  const hn::Rebind<std::int8_t, D> d8;
  const auto lanes = hn::VecFromMask(di, hn::RebindMask(di, mask));
  hn::StoreU(hn::DemoteTo(d8, lanes), d8, reinterpret_cast<std::int8_t*>(out));
#endif
}

void blend_rows(const float* a, const float* b, float weight_a, float weight_b, std::size_t count,
                std::uint8_t* out) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const auto wa = hn::Set(d, weight_a);
  const auto wb = hn::Set(d, weight_b);
  const auto zero = hn::Zero(d);
  for (std::size_t i = 0; i < count; i += lanes) {
    const auto value = hn::Add(hn::Mul(wa, hn::LoadU(d, a + i)), hn::Mul(wb, hn::LoadU(d, b + i)));
    store_bytes(d, hn::Gt(value, zero), out + i);
  }
}

void sample_mask(const LogitGrid& grid, const AxisSamples& x, PixelRange columns,
                 const AxisSamples& y, PixelRange rows, float* lines, ByteRows out) {
  const auto count = static_cast<std::size_t>(columns.length());
  float* line[2] = {lines, lines + line_floats(count) / 2};
  std::int32_t held[2] = {-2, -2};  // source rows in `line`; -2: none
  for (std::int32_t row = rows.begin; row < rows.end; ++row, out.data += out.stride) {
    const std::int32_t low = y.low[static_cast<std::size_t>(row)];
    if (held[0] != low) {
      if (held[1] == low) {
        std::swap(line[0], line[1]);
        std::swap(held[0], held[1]);
      }
      for (std::int32_t k = 0; k < 2; ++k) {
        if (held[k] == low + k) continue;
        resample_row(grid.data + static_cast<std::size_t>(low + k - grid.top) * grid.stride,
                     grid.left, x, columns, line[k]);
        held[k] = low + k;
      }
    }
    const auto at = static_cast<std::size_t>(row);
    blend_rows(line[0], line[1], y.low_weight[at], y.high_weight[at], count, out.data);
  }
}

void threshold_row(const float* logits, std::size_t count, std::uint8_t* out) {
  const Floats d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d))
    store_bytes(d, hn::Gt(hn::LoadU(d, logits + i), hn::Zero(d)), out + i);
}

void probability_row(const float* logits, float scale, std::size_t count, std::uint8_t* out) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const hn::Rebind<std::uint8_t, Floats> d8;
  const auto one = hn::Set(d, 1.0F);
  const auto factor = hn::Set(d, scale);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto v = hn::Mul(hn::LoadU(d, logits + i), factor);
    const auto e = exponential(d, hn::Neg(hn::Min(hn::Abs(v), hn::Set(d, 80.0F))));
    const auto less = hn::Div(e, hn::Add(one, e));  // sigmoid(-|v|)
    auto p = hn::IfThenElse(hn::Gt(v, hn::Zero(d)), hn::Sub(one, less), less);
    p = hn::IfThenElseZero(hn::Eq(v, v), p);
    const auto scaled = hn::Add(hn::Mul(p, hn::Set(d, 255.0F)), hn::Set(d, 0.5F));
    hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(di, scaled)), d8, out + i);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::decode
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::decode {
namespace {
HWY_EXPORT(sample_mask);
HWY_EXPORT(threshold_row);
HWY_EXPORT(probability_row);
}  // namespace

void sample_mask(const LogitGrid& grid, const AxisSamples& x, PixelRange columns,
                 const AxisSamples& y, PixelRange rows, float* lines, ByteRows out) {
  HWY_DYNAMIC_DISPATCH(sample_mask)(grid, x, columns, y, rows, lines, out);
}

void threshold_row(const float* logits, std::size_t count, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(threshold_row)(logits, count, out);
}

void probability_row(const float* logits, float scale, std::size_t count, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(probability_row)(logits, scale, count, out);
}

}  // namespace halyard::decode
#endif
