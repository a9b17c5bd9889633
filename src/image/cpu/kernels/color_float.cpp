// SPDX-License-Identifier: Apache-2.0
// Colour changes in single precision: products are rounded before sums, so that every target gives
// the same bits.
#include "image/cpu/kernels/color.h"

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/color_float.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DInt = hn::RebindToSigned<D>;
using DSample = hn::Rebind<std::int16_t, D>;  // one sample per float lane
using DCode = hn::Rebind<std::uint8_t, D>;
using V = hn::Vec<D>;

struct Three {
  V a, b, c;
};

HWY_INLINE V load(const std::int16_t* from) {
  return hn::ConvertTo(D(), hn::PromoteTo(DInt(), hn::LoadU(DSample(), from)));
}

HWY_INLINE V clamped(V code) {
  return hn::Min(hn::Max(code, hn::Zero(D())), hn::Set(D(), 255.0F));
}

/// Stores what is in codes: codes rounded with halves up, values to nearest.
template <bool codes>
struct Store {
  V unit;
  explicit Store(int fraction) : unit(hn::Set(D(), static_cast<float>(1 << fraction))) {}
  HWY_INLINE void operator()(V code, const ColorJob& job, std::size_t c, std::size_t x) const {
    if constexpr (codes) {
      const auto whole = hn::ConvertTo(DInt(), hn::Add(clamped(code), hn::Set(D(), 0.5F)));
      hn::StoreU(hn::DemoteTo(DCode(), whole), DCode(), job.codes[c] + x);
    } else {
      const auto value = hn::NearestInt(hn::Mul(clamped(code), unit));
      hn::StoreU(hn::DemoteTo(DSample(), value), DSample(), job.values[c] + x);
    }
  }
};

struct Matrix {
  V y_offset, neutral, y_scale, rv, gu, gv, bu;
  explicit Matrix(const FloatColors& m)
      : y_offset(hn::Set(D(), m.y_offset)),
        neutral(hn::Set(D(), m.neutral)),
        y_scale(hn::Set(D(), m.y_scale)),
        rv(hn::Set(D(), m.rv)),
        gu(hn::Set(D(), m.gu)),
        gv(hn::Set(D(), m.gv)),
        bu(hn::Set(D(), m.bu)) {}
  HWY_INLINE V luma(V y) const {
    return hn::Mul(hn::Max(hn::Sub(y, y_offset), hn::Zero(D())), y_scale);
  }
  HWY_INLINE Three rgb(const Three& yuv) const {
    const V l = luma(yuv.a);
    const V u = hn::Sub(yuv.b, neutral);
    const V v = hn::Sub(yuv.c, neutral);
    const V less = hn::Add(hn::Mul(u, gu), hn::Mul(v, gv));
    return {hn::Add(l, hn::Mul(v, rv)), hn::Sub(l, less), hn::Add(l, hn::Mul(u, bu))};
  }
};

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

HWY_INLINE Three load_three(const ColorJob& job, std::size_t x) {
  return {load(job.in[0] + x), load(job.in[1] + x), load(job.in[2] + x)};
}

template <bool codes>
HWY_INLINE void store_three(const Store<codes>& store, const Three& v, const ColorJob& job,
                            std::size_t x) {
  store(v.a, job, 0, x);
  store(v.b, job, 1, x);
  store(v.c, job, 2, x);
}

template <ColorChange change, bool codes>
struct Exact {
  Matrix from;
  Weighted first, second, third;
  Store<codes> store;
  explicit Exact(const ColorSetup& s)
      : from(s.real),
        first(s.real, 0),
        second(s.real, 1),
        third(s.real, 2),
        store(s.out_fraction) {}

  HWY_INLINE void at(const ColorJob& job, std::size_t x) const {
    if constexpr (change == ColorChange::yuv_to_rgb) {
      store_three(store, from.rgb(load_three(job, x)), job, x);
    } else if constexpr (change == ColorChange::luma) {
      store(from.luma(load(job.in[0] + x)), job, 0, x);
    } else if constexpr (change == ColorChange::grey_to_yuv) {
      const V scaled = hn::Mul(load(job.in[0] + x), from.y_scale);
      store(hn::Add(scaled, first.bias), job, 0, x);
    } else if constexpr (change == ColorChange::rgb_to_grey) {
      store(first(load_three(job, x)), job, 0, x);
    } else {
      Three rgb = load_three(job, x);
      if constexpr (change == ColorChange::yuv_to_yuv) {
        rgb = from.rgb(rgb);
        rgb = {clamped(rgb.a), clamped(rgb.b), clamped(rgb.c)};
      }
      store_three(store, {first(rgb), second(rgb), third(rgb)}, job, x);
    }
  }
};

// Samples divided by samples: the unit of the result is put right by one factor, a power of two
// beside 255. Alpha of 255 leaves colours as they are, to the bit.
template <bool multiply, bool codes>
struct ByAlpha {
  V opaque, unit;
  Store<codes> store;
  explicit ByAlpha(const ColorSetup& s)
      : opaque(hn::Set(D(), static_cast<float>(255 << s.in_fraction))),
        unit(hn::Set(D(), 1.0F / static_cast<float>(1 << s.in_fraction))),
        store(s.out_fraction) {}

  HWY_INLINE V result(V color, V alpha) const {
    if constexpr (multiply) return hn::Mul(hn::Div(hn::Mul(color, alpha), opaque), unit);
    const V whole = hn::Div(hn::Mul(color, opaque), alpha);
    return hn::IfThenElseZero(hn::Gt(alpha, hn::Zero(D())), hn::Mul(whole, unit));
  }
  HWY_INLINE void at(const ColorJob& job, std::size_t x) const {
    const V alpha = load(job.in[3] + x);
    const Three in = load_three(job, x);
    store_three(store, {result(in.a, alpha), result(in.b, alpha), result(in.c, alpha)}, job, x);
  }
};

template <class Change>
void color_row(const ColorSetup& setup, const ColorJob& given) {
  const ColorJob job = given;  // the stores cannot change a copy
  const Change change(setup);
  const std::size_t lanes = hn::Lanes(D());
  for (std::size_t x = 0; x < static_cast<std::size_t>(job.width); x += lanes)
    change.at(job, x);
}

template <bool codes>
void color_as(const ColorSetup& setup, const ColorJob& job) {
  switch (setup.change) {
    case ColorChange::none:
      return;
    case ColorChange::yuv_to_rgb:
      return color_row<Exact<ColorChange::yuv_to_rgb, codes>>(setup, job);
    case ColorChange::luma:
      return color_row<Exact<ColorChange::luma, codes>>(setup, job);
    case ColorChange::grey_to_yuv:
      return color_row<Exact<ColorChange::grey_to_yuv, codes>>(setup, job);
    case ColorChange::rgb_to_grey:
      return color_row<Exact<ColorChange::rgb_to_grey, codes>>(setup, job);
    case ColorChange::rgb_to_yuv:
      return color_row<Exact<ColorChange::rgb_to_yuv, codes>>(setup, job);
    case ColorChange::yuv_to_yuv:
      return color_row<Exact<ColorChange::yuv_to_yuv, codes>>(setup, job);
    case ColorChange::premultiply:
      return color_row<ByAlpha<true, codes>>(setup, job);
    case ColorChange::unpremultiply:
      return color_row<ByAlpha<false, codes>>(setup, job);
  }
}

}  // namespace

void FloatRow(const ColorSetup& setup, const ColorJob& job) {
  setup.codes ? color_as<true>(setup, job) : color_as<false>(setup, job);
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
