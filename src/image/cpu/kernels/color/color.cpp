// SPDX-License-Identifier: Apache-2.0
// Colour changes of rows in signed 16-bit fixed point, with the same roundings on every target.
// Formats and ranges: color-inl.h. The combined YUV matrix has its own bound, at FromYuvToYuv.
#include "image/cpu/kernels/color/color.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/color/color.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#include "image/cpu/kernels/color/color-inl.h"
#include "image/cpu/kernels/color/color_float.h"

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace colors {

// Each change has at(), which makes one vector of pixels; some have both_at(), which makes two.
// Constants are loaded once per row.

template <int in, bool codes>
struct FromYuvToRgb {
  FromYuv<in> from;
  explicit FromYuvToRgb(const FixedColors& m) : from(m, rounding_half<codes, rgb_fraction>()) {}
  HWY_INLINE void at(const ColorJob& job, std::size_t x) const {
    const D16 d;
    V16 red, green, blue;
    from.rgb(hn::LoadU(d, job.in[0] + x), hn::LoadU(d, job.in[1] + x), hn::LoadU(d, job.in[2] + x),
             red, green, blue);
    store_result<codes, rgb_fraction>(red, job, 0, x);
    store_result<codes, rgb_fraction>(green, job, 1, x);
    store_result<codes, rgb_fraction>(blue, job, 2, x);
  }
  HWY_INLINE void both_at(const ColorJob& job, std::size_t x) const requires codes {
    const D16 d;
    const std::size_t next = x + hn::Lanes(d);
    V16 red, green, blue, red2, green2, blue2;
    from.rgb(hn::LoadU(d, job.in[0] + x), hn::LoadU(d, job.in[1] + x), hn::LoadU(d, job.in[2] + x),
             red, green, blue);
    from.rgb(hn::LoadU(d, job.in[0] + next), hn::LoadU(d, job.in[1] + next),
             hn::LoadU(d, job.in[2] + next), red2, green2, blue2);
    store_color_codes<rgb_fraction>(red, red2, job.codes[0] + x);
    store_color_codes<rgb_fraction>(green, green2, job.codes[1] + x);
    store_color_codes<rgb_fraction>(blue, blue2, job.codes[2] + x);
  }
};

// x + x * (scale - 1) is exact where the scale is 1.
template <int in, bool codes>
struct FromYuvToGrey {
  V16 offset, gain, half;
  explicit FromYuvToGrey(const FixedColors& m)
      : offset(hn::Set(D16(), m.y_offset)),
        gain(hn::Set(D16(), m.grey_gain)),
        half(rounding_half<codes, in>()) {}
  HWY_INLINE void at(const ColorJob& job, std::size_t x) const {
    const V16 y = hn::LoadU(D16(), job.in[0] + x);
    const V16 above = hn::Sub(hn::Max(y, offset), offset);
    const V16 scaled = hn::SaturatedAdd(above, hn::MulFixedPoint15(above, gain));
    store_result<codes, in, true>(hn::SaturatedAdd(scaled, half), job, 0, x);
  }
};

template <int in, bool codes>
struct FromGreyToLuma {
  ToYuv<in> to;
  explicit FromGreyToLuma(const FixedColors& m) : to(m, rounding_half<codes, in>()) {}
  HWY_INLINE void at(const ColorJob& job, std::size_t x) const {
    store_result<codes, in>(to.y(hn::LoadU(D16(), job.in[0] + x)), job, 0, x);
  }
};

template <int in, bool codes>
struct FromRgbToGrey {
  LumaOfRgb luma;
  V16 half;
  explicit FromRgbToGrey(const FixedColors& m) : luma(m), half(rounding_half<codes, in>()) {}
  HWY_INLINE void at(const ColorJob& job, std::size_t x) const {
    const D16 d;
    const V16 grey =
        luma(hn::LoadU(d, job.in[0] + x), hn::LoadU(d, job.in[1] + x), hn::LoadU(d, job.in[2] + x));
    store_result<codes, in, in == 7>(hn::SaturatedAdd(grey, half), job, 0, x);
  }
};

// 8.7 samples are not negative, and neither is the YUV made from such RGB.
template <int in, bool codes>
struct FromRgbToYuv {
  LumaOfRgb luma;
  ToYuv<in> to;
  explicit FromRgbToYuv(const FixedColors& m) : luma(m), to(m, rounding_half<codes, in>()) {}
  HWY_INLINE void store(V16 red, V16 green, V16 blue, const ColorJob& job, std::size_t x) const {
    const V16 l = luma(red, green, blue);
    store_result<codes, in, in == 7>(to.y(l), job, 0, x);
    store_result<codes, in, in == 7>(to.u(blue, l), job, 1, x);
    store_result<codes, in, in == 7>(to.v(red, l), job, 2, x);
  }
  HWY_INLINE void at(const ColorJob& job, std::size_t x) const {
    const D16 d;
    store(hn::LoadU(d, job.in[0] + x), hn::LoadU(d, job.in[1] + x), hn::LoadU(d, job.in[2] + x),
          job, x);
  }
};

// Each result is the channel itself plus small terms: its weight is 1 + gain; |gain| and the other
// weights are below 1/4. Bias and small terms fit 16 bits. For 8.7, |u| and |v| are at most 2^14
// (2^14 + 2^14 / 2 for chroma, 2^11 + 2^15 / 4 + 2^14 / 2 for luma); for 9.6, all are at most 2^15
// (2^13 + 2^15 / 2, and 2^10 + 2^15 * 3 / 4). The channel itself is added last, and saturates only
// where the result is outside [0, 255].
template <int in, bool codes>
struct FromYuvToYuv {
  V16 y_offset, neutral, y_gain, y_of_u, y_of_v, u_gain, u_of_v, v_of_u, v_gain, y_bias, bias;
  explicit FromYuvToYuv(const FixedColors& m)
      : y_offset(hn::Set(D16(), m.y_offset)),
        neutral(hn::Set(D16(), 128 << in)),
        y_gain(hn::Set(D16(), m.y_gain)),
        y_of_u(hn::Set(D16(), m.y_of_u)),
        y_of_v(hn::Set(D16(), m.y_of_v)),
        u_gain(hn::Set(D16(), m.u_gain)),
        u_of_v(hn::Set(D16(), m.u_of_v)),
        v_of_u(hn::Set(D16(), m.v_of_u)),
        v_gain(hn::Set(D16(), m.v_gain)),
        y_bias(hn::Add(hn::Set(D16(), m.y_bias), rounding_half<codes, in>())),
        bias(hn::Add(neutral, rounding_half<codes, in>())) {}
  static HWY_INLINE V16 sum(V16 large, V16 small, V16 more, V16 bias) {
    return hn::SaturatedAdd(hn::Add(hn::Add(small, more), bias), large);
  }
  HWY_INLINE void yuv(const ColorJob& job, std::size_t x, V16& luma, V16& cb, V16& cr) const {
    const D16 d;
    const V16 y = hn::SaturatedSub(hn::LoadU(d, job.in[0] + x), y_offset);
    const V16 u = hn::SaturatedSub(hn::LoadU(d, job.in[1] + x), neutral);
    const V16 v = hn::SaturatedSub(hn::LoadU(d, job.in[2] + x), neutral);
    const V16 y_terms = hn::Add(hn::MulFixedPoint15(u, y_of_u), hn::MulFixedPoint15(v, y_of_v));
    luma = sum(y, hn::MulFixedPoint15(y, y_gain), y_terms, y_bias);
    cb = sum(u, hn::MulFixedPoint15(u, u_gain), hn::MulFixedPoint15(v, u_of_v), bias);
    cr = sum(v, hn::MulFixedPoint15(v, v_gain), hn::MulFixedPoint15(u, v_of_u), bias);
  }
  HWY_INLINE void at(const ColorJob& job, std::size_t x) const {
    V16 y, u, v;
    yuv(job, x, y, u, v);
    store_result<codes, in>(y, job, 0, x);
    store_result<codes, in>(u, job, 1, x);
    store_result<codes, in>(v, job, 2, x);
  }
  HWY_INLINE void both_at(const ColorJob& job, std::size_t x) const requires codes {
    V16 y, u, v, y2, u2, v2;
    yuv(job, x, y, u, v);
    yuv(job, x + hn::Lanes(D16()), y2, u2, v2);
    store_color_codes<in>(y, y2, job.codes[0] + x);
    store_color_codes<in>(u, u2, job.codes[1] + x);
    store_color_codes<in>(v, v2, job.codes[2] + x);
  }
};

template <int in, bool codes, std::size_t channels>
struct Kept {
  V16 half = rounding_half<codes, in>();
  explicit Kept(const FixedColors&) {}
  HWY_INLINE void at(const ColorJob& job, std::size_t x) const {
    for (std::size_t c = 0; c < channels; ++c) {
      const V16 sample = hn::LoadU(D16(), job.in[c] + x);
      store_result<codes, in, in == 7>(hn::SaturatedAdd(sample, half), job, c, x);
    }
  }
  HWY_INLINE void both_at(const ColorJob& job, std::size_t x) const requires codes {
    const D16 d;
    for (std::size_t c = 0; c < channels; ++c) {
      const V16 sample = hn::LoadU(d, job.in[c] + x);
      const V16 next = hn::LoadU(d, job.in[c] + x + hn::Lanes(d));
      store_color_codes<in>(hn::SaturatedAdd(sample, half), hn::SaturatedAdd(next, half),
                            job.codes[c] + x);
    }
  }
};

template <class Change>
void color_row(const ColorSetup& setup, const ColorJob& given) {
  // A local copy: the compiler knows that the stores do not change it. Copied member by member, as
  // the caller wrote it.
  ColorJob job;
  for (std::size_t c = 0; c < 4; ++c) {
    job.in[c] = given.in[c];
    job.codes[c] = given.codes[c];
    job.values[c] = given.values[c];
  }
  job.width = given.width;
  const Change change(setup.fixed);
  const std::size_t lanes = hn::Lanes(D16());
  if constexpr (requires { change.both_at(job, lanes); }) {
    for (std::size_t x = 0; x < static_cast<std::size_t>(job.width); x += 2 * lanes)
      change.both_at(job, x);
    return;
  }
  for (std::size_t x = 0; x < static_cast<std::size_t>(job.width); x += lanes)
    change.at(job, x);
}

template <int in, bool codes>
void color_as(ColorChange change, const ColorSetup& setup, const ColorJob& job) {
  switch (change) {
    case ColorChange::yuv_to_rgb:
      return color_row<FromYuvToRgb<in, codes>>(setup, job);
    case ColorChange::luma:
      return color_row<FromYuvToGrey<in, codes>>(setup, job);
    case ColorChange::grey_to_yuv:
      return color_row<FromGreyToLuma<in, codes>>(setup, job);
    case ColorChange::rgb_to_grey:
      return color_row<FromRgbToGrey<in, codes>>(setup, job);
    case ColorChange::rgb_to_yuv:
      return color_row<FromRgbToYuv<in, codes>>(setup, job);
    case ColorChange::yuv_to_yuv:
      return color_row<FromYuvToYuv<in, codes>>(setup, job);
    default:
      return job.in[1] == nullptr ? color_row<Kept<in, codes, 1>>(setup, job)
                                  : color_row<Kept<in, codes, 3>>(setup, job);
  }
}

}  // namespace colors

void ColorRow(ColorChange change, const ColorSetup& setup, const ColorJob& job) {
  if (setup.in_fraction == 7) {
    return setup.codes ? colors::color_as<7, true>(change, setup, job)
                       : colors::color_as<7, false>(change, setup, job);
  }
  return setup.codes ? colors::color_as<6, true>(change, setup, job)
                     : colors::color_as<6, false>(change, setup, job);
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(ColorRow);

void change_colors(const ColorSetup& setup, const ColorJob& job) {
  const bool alpha =
      setup.change == ColorChange::premultiply || setup.change == ColorChange::unpremultiply;
  if (setup.exact || alpha) return change_colors_in_floats(setup, job);
  HWY_DYNAMIC_DISPATCH(ColorRow)(setup.change, setup, job);
}

void keep_channel(const ColorSetup& setup, const ColorJob& job, std::size_t c) {
  ColorJob one;
  one.in[0] = job.in[c];
  one.codes[0] = job.codes[c];
  one.values[0] = job.values[c];
  one.width = job.width;
  HWY_DYNAMIC_DISPATCH(ColorRow)(ColorChange::none, setup, one);
}

}  // namespace halyard::image
#endif
