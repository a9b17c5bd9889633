// SPDX-License-Identifier: Apache-2.0
// Colour changes in single precision. Products are rounded before sums (no fused multiply-add), so
// that every target gives the same bits. Samples are 16-bit fixed point, exact as floats. Values
// are clamped to [0, 255] and then rounded; codes fit 16 bits before they saturate to bytes,
// because samples are below 512 and weights below 3.
#include "image/cpu/kernels/color/color_float.h"
#include "image/cpu/kernels/color/color.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/color/color_float.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using D16 = hn::ScalableTag<std::int16_t>;
using DCodes = hn::Rebind<std::uint8_t, D16>;
using DInt = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using V16 = hn::Vec<D16>;

/// One vector of 16-bit samples gives two vectors of floats: its even lanes and its odd lanes.
constexpr std::size_t halves = HWY_TARGET == HWY_SCALAR ? 1 : 2;

struct Three {
  V a, b, c;
};

HWY_INLINE V load_floats(const std::int16_t* from, std::size_t half) {
#if HWY_TARGET == HWY_SCALAR
  (void)half;
  return hn::ConvertTo(D(), hn::PromoteTo(DInt(), hn::LoadU(D16(), from)));
#else
  auto both = hn::BitCast(DInt(), hn::LoadU(D16(), from));
  if (half == 0) both = hn::ShiftLeft<16>(both);
  return hn::ConvertTo(D(), hn::ShiftRight<16>(both));
#endif
}

HWY_INLINE V clamped(V value, V maximum) {
  return hn::Min(hn::Max(value, hn::Zero(D())), maximum);
}

// Rounds to the nearest integer: a float near 1.5 * 2^23 holds an integer in its lowest 16 bits.
HWY_INLINE V16 rounded_floats(V even, V odd) {
  const V magic = hn::Set(D(), 12582912.0F);
  const auto low = hn::BitCast(DInt(), hn::Add(even, magic));
  const auto high = hn::BitCast(DInt(), hn::Add(odd, magic));
#if HWY_TARGET == HWY_SCALAR
  (void)high;
  return hn::DemoteTo(D16(), hn::ShiftRight<16>(hn::ShiftLeft<16>(low)));
#else
  return hn::OddEven(hn::BitCast(D16(), hn::ShiftLeft<16>(high)), hn::BitCast(D16(), low));
#endif
}

template <bool codes>
HWY_INLINE void store_one(V even, V odd, const ColorJob& job, std::size_t c, std::size_t x) {
  const V16 result = rounded_floats(even, odd);
  if constexpr (codes) {
    hn::StoreU(hn::DemoteTo(DCodes(), result), DCodes(), job.codes[c] + x);
  } else {
    hn::StoreU(result, D16(), job.values[c] + x);
  }
}

/// Stores both halves of `count` results, which are in the unit of what is stored.
template <bool codes, int count>
HWY_INLINE void store_floats(const Three& even, const Three& odd, const ColorJob& job,
                             std::size_t x) {
  store_one<codes>(even.a, odd.a, job, 0, x);
  if constexpr (count == 3) {
    store_one<codes>(even.b, odd.b, job, 1, x);
    store_one<codes>(even.c, odd.c, job, 2, x);
  }
}

struct Matrix {
  V y_offset, neutral, y_scale, y_bias, rv, gu, gv, bu;
  explicit Matrix(const FloatColors& m)
      : y_offset(hn::Set(D(), m.y_offset)),
        neutral(hn::Set(D(), m.neutral)),
        y_scale(hn::Set(D(), m.y_scale)),
        y_bias(hn::Set(D(), m.y_bias)),
        rv(hn::Set(D(), m.rv)),
        gu(hn::Set(D(), m.gu)),
        gv(hn::Set(D(), m.gv)),
        bu(hn::Set(D(), m.bu)) {}
  HWY_INLINE V luma(V y) const {
    const V above = hn::Max(hn::Sub(y, y_offset), hn::Zero(D()));
    return hn::Add(hn::Mul(above, y_scale), y_bias);
  }
  /// YUV minus the offsets of its channels.
  HWY_INLINE Three differences(const Three& yuv) const {
    return {hn::Sub(yuv.a, y_offset), hn::Sub(yuv.b, neutral), hn::Sub(yuv.c, neutral)};
  }
  HWY_INLINE Three rgb(const Three& yuv) const {
    const V l = luma(yuv.a);
    const V u = hn::Sub(yuv.b, neutral);
    const V v = hn::Sub(yuv.c, neutral);
    const V less = hn::Add(hn::Mul(u, gu), hn::Mul(v, gv));
    return {hn::Add(l, hn::Mul(v, rv)), hn::Sub(l, less), hn::Add(l, hn::Mul(u, bu))};
  }
};

// One row of a matrix for R G B, or for differences of Y U V.
struct Weighted {
  V red, green, blue, bias;
  Weighted(const FloatColors& m, std::size_t c)
      : red(hn::Set(D(), m.weight[c][0])),
        green(hn::Set(D(), m.weight[c][1])),
        blue(hn::Set(D(), m.weight[c][2])),
        bias(hn::Set(D(), m.bias[c])) {}
  HWY_INLINE V operator()(const Three& rgb) const {
    const V sum = hn::Add(hn::Mul(rgb.a, red), hn::Mul(rgb.b, green));
    return hn::Add(hn::Add(sum, hn::Mul(rgb.c, blue)), bias);
  }
};

template <bool codes>
HWY_INLINE Three bounded(const Three& v, V maximum) {
  // Codes saturate when they are packed to bytes.
  if constexpr (codes) return v;
  return {clamped(v.a, maximum), clamped(v.b, maximum), clamped(v.c, maximum)};
}

template <ColorChange change, bool codes>
struct Exact {
  static constexpr bool alone = change == ColorChange::luma || change == ColorChange::grey_to_yuv;
  static constexpr int results = alone || change == ColorChange::rgb_to_grey ? 1 : 3;
  Matrix from;
  Weighted first, second, third;
  V maximum;
  explicit Exact(const ColorSetup& s)
      : from(s.real),
        first(s.real, 0),
        second(s.real, 1),
        third(s.real, 2),
        maximum(hn::Set(D(), static_cast<float>(255 << s.out_fraction))) {}

  HWY_INLINE Three result(const Three& in) const {
    if constexpr (change == ColorChange::yuv_to_rgb) return from.rgb(in);
    if constexpr (change == ColorChange::luma) return {from.luma(in.a), in.b, in.c};
    if constexpr (change == ColorChange::grey_to_yuv)
      return {hn::Add(hn::Mul(in.a, from.y_scale), first.bias), in.b, in.c};
    if constexpr (change == ColorChange::rgb_to_grey) return {first(in), in.b, in.c};
    Three of = in;
    if constexpr (change == ColorChange::yuv_to_yuv) of = from.differences(in);
    return {first(of), second(of), third(of)};
  }

  HWY_INLINE Three half(const ColorJob& job, std::size_t x, std::size_t h) const {
    const V a = load_floats(job.in[0] + x, h);
    if constexpr (alone) return bounded<codes>(result({a, a, a}), maximum);
    return bounded<codes>(result({a, load_floats(job.in[1] + x, h), load_floats(job.in[2] + x, h)}),
                          maximum);
  }
  HWY_INLINE void at(const ColorJob& job, std::size_t x) const {
    store_floats<codes, results>(half(job, x, 0), half(job, x, halves - 1), job, x);
  }
};

// An alpha of 255 keeps colours as they are.
template <bool multiply, bool codes>
struct ByAlpha {
  V opaque, factor, tie, maximum;
  explicit ByAlpha(const ColorSetup& s)
      : opaque(hn::Set(D(), static_cast<float>(255 << s.in_fraction))),
        factor(hn::Set(D(), multiply ? s.real.by_alpha : s.real.step)),
        tie(hn::Set(D(), s.real.tie)),
        maximum(hn::Set(D(), static_cast<float>(codes ? 255 : 255 << s.out_fraction))) {}

  HWY_INLINE V result(V color, V by) const {
    return clamped(hn::Add(hn::Mul(hn::Mul(color, by), factor), tie), maximum);
  }
  HWY_INLINE Three half(const ColorJob& job, std::size_t x, std::size_t h) const {
    V by = load_floats(job.in[3] + x, h);
    if constexpr (!multiply)
      by = hn::IfThenElseZero(hn::Gt(by, hn::Zero(D())), hn::Div(opaque, by));
    return {result(load_floats(job.in[0] + x, h), by), result(load_floats(job.in[1] + x, h), by),
            result(load_floats(job.in[2] + x, h), by)};
  }
  HWY_INLINE void at(const ColorJob& job, std::size_t x) const {
    store_floats<codes, 3>(half(job, x, 0), half(job, x, halves - 1), job, x);
  }
};

template <class Change>
void color_float_row(const ColorSetup& setup, const ColorJob& given) {
  const ColorJob job = given;  // the stores cannot change a copy
  const Change change(setup);
  const std::size_t lanes = hn::Lanes(D16());
  for (std::size_t x = 0; x < static_cast<std::size_t>(job.width); x += lanes)
    change.at(job, x);
}

template <bool codes>
void color_float_as(const ColorSetup& setup, const ColorJob& job) {
  switch (setup.change) {
    case ColorChange::none:
      return;
    case ColorChange::yuv_to_rgb:
      return color_float_row<Exact<ColorChange::yuv_to_rgb, codes>>(setup, job);
    case ColorChange::luma:
      return color_float_row<Exact<ColorChange::luma, codes>>(setup, job);
    case ColorChange::grey_to_yuv:
      return color_float_row<Exact<ColorChange::grey_to_yuv, codes>>(setup, job);
    case ColorChange::rgb_to_grey:
      return color_float_row<Exact<ColorChange::rgb_to_grey, codes>>(setup, job);
    case ColorChange::rgb_to_yuv:
      return color_float_row<Exact<ColorChange::rgb_to_yuv, codes>>(setup, job);
    case ColorChange::yuv_to_yuv:
      return color_float_row<Exact<ColorChange::yuv_to_yuv, codes>>(setup, job);
    case ColorChange::premultiply:
      return color_float_row<ByAlpha<true, codes>>(setup, job);
    case ColorChange::unpremultiply:
      return color_float_row<ByAlpha<false, codes>>(setup, job);
  }
}

}  // namespace

void FloatRow(const ColorSetup& setup, const ColorJob& job) {
  setup.codes ? color_float_as<true>(setup, job) : color_float_as<false>(setup, job);
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(FloatRow);

void change_colors_in_floats(const ColorSetup& setup, const ColorJob& job) {
  HWY_DYNAMIC_DISPATCH(FloatRow)(setup, job);
}

}  // namespace halyard::image
#endif
