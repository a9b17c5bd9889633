// SPDX-License-Identifier: Apache-2.0
// Colour changes of whole vectors in signed 16-bit fixed point. Samples have 7 fractional bits
// ("8.7", never negative) or 6 ("9.6", which may overshoot [0, 255]); RGB made from YUV has 5
// ("8.5"). Products by MulFixedPoint15 cannot overflow: every coefficient is below 1 in 15 bits.
// 8.5 has room for 1024 codes. Sums that may leave 16 bits saturate, where the result is 0 or 255.
// Included once per target: the include guard follows the toggle of foreach_target.h.
#if defined(HALYARD_IMAGE_COLOR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HALYARD_IMAGE_COLOR_INL_H
#undef HALYARD_IMAGE_COLOR_INL_H
#else
#define HALYARD_IMAGE_COLOR_INL_H
#endif

#include <hwy/highway.h>

#include "image/cpu/kernels/color/color.h"

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace colors {
namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::int16_t>;
using DCodes = hn::Rebind<std::uint8_t, D16>;  // one byte per 16-bit lane
using V16 = hn::Vec<D16>;

/// Fractional bits of RGB that is made from YUV.
inline constexpr int rgb_fraction = 5;

/// Added before the fraction is cut off, so that codes are rounded; 0 for values.
template <bool codes, int fraction>
HWY_INLINE V16 rounding_half() {
  return hn::Set(D16(), codes ? 1 << (fraction - 1) : 0);
}

/// Stores one vector, clamped to [0, 255]. Code results already contain the rounding half.
/// `positive`: no value is below 0.
template <bool codes, int fraction, bool positive = false>
HWY_INLINE void store_result(V16 value, const ColorJob& job, std::size_t c, std::size_t x) {
  const D16 d;
  if constexpr (codes) {
    hn::StoreU(hn::DemoteTo(DCodes(), hn::ShiftRight<fraction>(value)), DCodes(), job.codes[c] + x);
  } else {
    if constexpr (!positive) value = hn::Max(value, hn::Zero(d));
    hn::StoreU(hn::Min(value, hn::Set(d, 255 << fraction)), d, job.values[c] + x);
  }
}

/// Stores two vectors of code results, one behind the other. Packs both at once; Highway 1.0.3 can
/// only pack one vector.
template <int fraction>
HWY_INLINE void store_color_codes(V16 first, V16 second, std::uint8_t* to) {
  const V16 low = hn::ShiftRight<fraction>(first);
  const V16 high = hn::ShiftRight<fraction>(second);
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  _mm512_storeu_si512(to, _mm512_permutexvar_epi64(order, _mm512_packus_epi16(low.raw, high.raw)));
#elif HWY_TARGET == HWY_AVX2
  const __m256i packed = _mm256_packus_epi16(low.raw, high.raw);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permute4x64_epi64(packed, 0xD8));
#elif HWY_TARGET == HWY_SSE4
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(low.raw, high.raw));
#else
  hn::StoreU(hn::DemoteTo(DCodes(), low), DCodes(), to);
  hn::StoreU(hn::DemoteTo(DCodes(), high), DCodes(), to + hn::Lanes(D16()));
#endif
}

/// YUV samples to RGB in 8.5.
template <int in_fraction>
struct FromYuv {
  V16 y_offset, neutral, y_scale, rv, gu, gv, bu, half;

  /// `half`: included in the results.
  FromYuv(const FixedColors& m, V16 half_)
      : y_offset(hn::Set(D16(), m.y_offset)),
        neutral(hn::Set(D16(), 128 << in_fraction)),
        y_scale(hn::Set(D16(), m.y_scale)),
        rv(hn::Set(D16(), m.rv)),
        gu(hn::Set(D16(), m.gu)),
        gv(hn::Set(D16(), m.gv)),
        bu(hn::Set(D16(), m.bu)),
        half(half_) {}

  HWY_INLINE V16 luma(V16 y) const {
    return hn::Add(hn::MulFixedPoint15(above_offset(y), y_scale), half);
  }
  // 8.7 samples are not negative, so that an unsigned subtraction clamps at 0.
  HWY_INLINE V16 above_offset(V16 y) const {
    const hn::RebindToUnsigned<D16> du;
    if (in_fraction != 7) return hn::Sub(hn::Max(y, y_offset), y_offset);
    return hn::BitCast(D16(), hn::SaturatedSub(hn::BitCast(du, y), hn::BitCast(du, y_offset)));
  }
  HWY_INLINE V16 difference(V16 chroma) const { return hn::SaturatedSub(chroma, neutral); }
  /// The difference from neutral in 8.7. Overshoot may saturate, but only where blue is 0 or 255 in
  /// any case: bu is above 1.77, so that 256 times it exceeds any luma.
  static HWY_INLINE V16 for_blue(V16 u) { return in_fraction == 7 ? u : hn::SaturatedAdd(u, u); }
  HWY_INLINE void rgb(V16 y, V16 cb, V16 cr, V16& red, V16& green, V16& blue) const {
    const V16 l = luma(y);
    const V16 u = difference(cb);
    const V16 v = difference(cr);
    const V16 less = hn::Add(hn::MulFixedPoint15(u, gu), hn::MulFixedPoint15(v, gv));
    red = hn::SaturatedAdd(l, hn::MulFixedPoint15(v, rv));
    green = hn::SaturatedSub(l, less);
    blue = hn::SaturatedAdd(l, hn::MulFixedPoint15(for_blue(u), bu));
  }
};

/// Luma of R G B in their fraction.
struct LumaOfRgb {
  V16 red, green, blue;

  explicit LumaOfRgb(const FixedColors& m)
      : red(hn::Set(D16(), m.red)), green(hn::Set(D16(), m.green)), blue(hn::Set(D16(), m.blue)) {}

  HWY_INLINE V16 operator()(V16 r, V16 g, V16 b) const {
    const V16 sum = hn::SaturatedAdd(hn::MulFixedPoint15(r, red), hn::MulFixedPoint15(g, green));
    return hn::SaturatedAdd(sum, hn::MulFixedPoint15(b, blue));
  }
};

/// Y and chroma from luma and RGB, in the fraction of the samples. Sums that saturate are far
/// outside [0, 255] and stay there.
template <int fraction>
struct ToYuv {
  V16 gain, y_bias, u_scale, v_scale, neutral;

  /// `half`: included in the results.
  ToYuv(const FixedColors& m, V16 half)
      : gain(hn::Set(D16(), m.y_gain)),
        y_bias(hn::Add(hn::Set(D16(), m.y_bias), half)),
        u_scale(hn::Set(D16(), m.u_scale)),
        v_scale(hn::Set(D16(), m.v_scale)),
        neutral(hn::Add(hn::Set(D16(), 128 << fraction), half)) {}

  /// luma + luma * (scale - 1) + bias: exact where the scale is 1.
  HWY_INLINE V16 y(V16 luma) const {
    return hn::SaturatedAdd(hn::SaturatedAdd(luma, hn::MulFixedPoint15(luma, gain)), y_bias);
  }
  HWY_INLINE V16 u(V16 blue, V16 luma) const {
    const V16 difference = hn::SaturatedSub(blue, luma);
    return hn::SaturatedAdd(hn::MulFixedPoint15(difference, u_scale), neutral);
  }
  HWY_INLINE V16 v(V16 red, V16 luma) const {
    const V16 difference = hn::SaturatedSub(red, luma);
    return hn::SaturatedAdd(hn::MulFixedPoint15(difference, v_scale), neutral);
  }
};

}  // namespace colors
}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#endif
