// SPDX-License-Identifier: Apache-2.0
// Chooses the colour kernel of a plan and makes its constants.
#include "image/cpu/color/color_converter.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace halyard::image {
namespace {

using Weights = std::array<std::array<double, 3>, 3>;

ColorChange change_of(const ColorStep& step, AlphaStep alpha) noexcept {
  if (step.keeps_alpha && alpha == AlphaStep::premultiply) return ColorChange::premultiply;
  if (step.keeps_alpha && alpha == AlphaStep::unpremultiply) return ColorChange::unpremultiply;
  switch (step.from) {
    case ColorModel::yuv:
      if (step.to == ColorModel::grey) return ColorChange::luma;
      if (step.to == ColorModel::rgb) return ColorChange::yuv_to_rgb;
      return step.same_yuv ? ColorChange::none : ColorChange::yuv_to_yuv;
    case ColorModel::grey:
      return step.to == ColorModel::yuv ? ColorChange::grey_to_yuv : ColorChange::none;
    default:
      if (step.to == ColorModel::grey) return ColorChange::rgb_to_grey;
      return step.to == ColorModel::yuv ? ColorChange::rgb_to_yuv : ColorChange::none;
  }
}

Weights weights_to(const RgbToYuv& m) noexcept {
  return {{{m.y_scale * m.kr, m.y_scale * m.kg, m.y_scale * m.kb},
           {-m.u_scale * m.kr, -m.u_scale * m.kg, m.u_scale * (1 - m.kb)},
           {m.v_scale * (1 - m.kr), -m.v_scale * m.kg, -m.v_scale * m.kb}}};
}

std::int16_t fixed(double value, int fraction) noexcept {
  return static_cast<std::int16_t>(std::lround(std::ldexp(value, fraction)));
}

bool comes_from_yuv(ColorChange change) noexcept {
  return change == ColorChange::yuv_to_rgb || change == ColorChange::yuv_to_yuv ||
         change == ColorChange::luma;
}

int fraction_of(const ColorSetup& s) noexcept {
  const bool by_alpha =
      s.change == ColorChange::premultiply || s.change == ColorChange::unpremultiply;
  if (s.exact && !by_alpha) return 7;
  return s.change == ColorChange::yuv_to_rgb ? 5 : s.in_fraction;
}

void set_fixed(const ColorStep& step, ColorSetup& s) noexcept {
  FixedColors& m = s.fixed;
  const YuvToRgb& from = step.from_yuv;
  m.y_offset = fixed(from.y_offset, s.in_fraction);
  const int share = s.in_fraction == 7 ? 13 : 14;  // a quarter, or a half
  m.y_scale = fixed(from.y_scale, share);
  m.rv = fixed(from.rv, share);
  m.gu = fixed(from.gu, share);
  m.gv = fixed(from.gv, share);
  m.bu = fixed(from.bu, 13);
  m.grey_gain = fixed(from.y_scale - 1, 15);
  const bool to_yuv = step.to == ColorModel::yuv;
  const RgbToYuv& to = step.to_yuv;
  m.red = fixed(to_yuv ? to.kr : grey_of({1, 0, 0, 0}), 15);
  m.blue = fixed(to_yuv ? to.kb : grey_of({0, 0, 1, 0}), 15);
  m.green = static_cast<std::int16_t>(32768 - m.red - m.blue);  // so that greys stay grey
  m.y_gain = fixed(to.y_scale - 1, 15);
  m.y_bias = fixed(to.y_offset, s.in_fraction);
  m.u_scale = fixed(to.u_scale, 15);
  m.v_scale = fixed(to.v_scale, 15);
}

void set_fixed(const YuvToYuv& between, FixedColors& m) noexcept {
  const auto& [y, u, v] = between.weight;
  m.y_gain = fixed(y[0] - 1, 15);
  m.y_of_u = fixed(y[1], 15);
  m.y_of_v = fixed(y[2], 15);
  m.u_gain = fixed(u[1] - 1, 15);
  m.u_of_v = fixed(u[2], 15);
  m.v_of_u = fixed(v[1], 15);
  m.v_gain = fixed(v[2] - 1, 15);
}

void set_real(const ColorStep& step, const Weights& weights, const std::array<double, 3>& bias,
              ColorSetup& s) noexcept {
  FloatColors& m = s.real;
  const double sample = std::ldexp(1.0, -s.in_fraction);
  const double result = s.codes ? 1 : std::ldexp(1.0, s.out_fraction);
  const double matrix = sample * result;
  const auto single = [](double value) { return static_cast<float>(value); };
  const YuvToRgb& yuv = step.from_yuv;
  m.tie = s.codes ? 1.0F / 32768 : 0.0F;
  m.step = single(matrix);
  m.by_alpha = std::nextafter(single(m.step / std::ldexp(255.0, s.in_fraction)), 1.0F);
  m.y_offset = single(yuv.y_offset / sample);
  m.neutral = single(128 / sample);
  m.y_scale = single((comes_from_yuv(s.change) ? yuv.y_scale : step.to_yuv.y_scale) * matrix);
  m.y_bias = m.tie;
  m.rv = single(yuv.rv * matrix);
  m.gu = single(yuv.gu * matrix);
  m.gv = single(yuv.gv * matrix);
  m.bu = single(yuv.bu * matrix);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t k = 0; k < 3; ++k)
      m.weight[c][k] = single(weights[c][k] * matrix);
    m.bias[c] = single(bias[c] * result) + m.tie;
  }
}

}  // namespace

ColorSetup make_color_setup(const ColorStep& step, AlphaStep alpha, int fraction, bool codes,
                            bool exact) noexcept {
  ColorSetup s;
  s.change = change_of(step, alpha);
  s.in_fraction = fraction;
  s.codes = codes;
  s.exact = exact && s.change != ColorChange::none;
  s.out_fraction = fraction_of(s);
  Weights weights{};
  std::array<double, 3> bias{};
  set_fixed(step, s);
  if (s.change == ColorChange::yuv_to_yuv) {
    const YuvToYuv between = yuv_to_yuv(step.from_yuv, step.to_yuv);
    set_fixed(between, s.fixed);
    weights = between.weight;
    bias = between.bias;
  } else if (step.to == ColorModel::yuv) {
    weights = weights_to(step.to_yuv);
    bias = {step.to_yuv.y_offset, 128, 128};
  } else if (step.to == ColorModel::grey) {
    weights[0] = {grey_of({1, 0, 0, 0}), grey_of({0, 1, 0, 0}), grey_of({0, 0, 1, 0})};
  }
  set_real(step, weights, bias, s);
  return s;
}

ColorConverter::ColorConverter(const Plan& plan, int fraction, bool codes) noexcept
    : setup_(make_color_setup(plan.color, plan.alpha, fraction, codes, plan.exact)),
      channels_(plan.dst.channels->count),
      keeps_alpha_(plan.color.keeps_alpha),
      from_grey_(plan.color.from == ColorModel::grey) {}

std::size_t ColorConverter::needed_channels(const Plan& plan) noexcept {
  if (plan.color.from == ColorModel::grey) return 1;
  if (plan.color.from == ColorModel::yuv && plan.color.to == ColorModel::grey) return 1;
  return plan.color.keeps_alpha ? 4 : 3;
}

void ColorConverter::fill(const ColorJob& job, std::size_t c, int code) const noexcept {
  const auto width = static_cast<std::size_t>(job.width);
  if (setup_.codes) {
    std::memset(job.codes[c], code, width);
  } else {
    std::fill_n(job.values[c], width, static_cast<std::int16_t>(code << setup_.out_fraction));
  }
}

void ColorConverter::copy_first(const ColorJob& job, std::size_t c) const noexcept {
  const auto width = static_cast<std::size_t>(job.width);
  if (setup_.codes) {
    std::memcpy(job.codes[c], job.codes[0], width);
  } else {
    std::memcpy(job.values[c], job.values[0], width * sizeof(std::int16_t));
  }
}

void ColorConverter::apply(const SampleRows& in, std::int32_t width,
                           const ResultRows& out) const noexcept {
  const ColorJob job{in.channel, out.codes, out.values, width};
  const bool alone = setup_.change == ColorChange::none && (from_grey_ || channels_ == 1);
  alone ? keep_channel(setup_, job, 0) : change_colors(setup_, job);
  if (from_grey_ && channels_ > 1) {
    for (const std::size_t c : {std::size_t{1}, std::size_t{2}})
      alone ? copy_first(job, c) : fill(job, c, 128);
  }
  if (channels_ < 4) return;
  keeps_alpha_ ? keep_channel(setup_, job, 3) : fill(job, 3, 255);
}

}  // namespace halyard::image
