// SPDX-License-Identifier: Apache-2.0
// Changes the colour model of one pixel.
#include "image/color_step.h"

namespace halyard::image {
namespace {

double clamp_code(double value) noexcept {
  return std::clamp(value, 0.0, 255.0);
}

double luma_of(const Pixel& yuv, const YuvToRgb& m) noexcept {
  return std::max((yuv[0] - m.y_offset) * m.y_scale, 0.0);
}

Pixel rgb_from_yuv(const Pixel& yuv, const YuvToRgb& m) noexcept {
  const double l = luma_of(yuv, m);
  const double u = yuv[1] - 128;
  const double v = yuv[2] - 128;
  return {clamp_code(l + m.rv * v), clamp_code(l - m.gu * u - m.gv * v), clamp_code(l + m.bu * u),
          255};
}

Pixel yuv_from_rgb(const Pixel& rgb, const RgbToYuv& m) noexcept {
  const double luma = m.kr * rgb[0] + m.kg * rgb[1] + m.kb * rgb[2];
  return {clamp_code(m.y_offset + m.y_scale * luma), clamp_code(128 + m.u_scale * (rgb[2] - luma)),
          clamp_code(128 + m.v_scale * (rgb[0] - luma)), 255};
}

Pixel yuv_from_yuv(const Pixel& in, const YuvToYuv& m) noexcept {
  Pixel out{0, 0, 0, 255};
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = m.bias[c];
    for (std::size_t k = 0; k < 3; ++k)
      sum += m.weight[c][k] * (in[k] - m.offset[k]);
    out[c] = clamp_code(sum);
  }
  return out;
}

}  // namespace

// With l = y_scale y, R G B = l + (rv v, -gu u - gv v, bu u). Their luma is l + (a u + b v), so
// that l cancels out of B - luma and R - luma.
YuvToYuv yuv_to_yuv(const YuvToRgb& from, const RgbToYuv& to) noexcept {
  const double luma_u = to.kb * from.bu - to.kg * from.gu;
  const double luma_v = to.kr * from.rv - to.kg * from.gv;
  YuvToYuv m;
  m.offset = {from.y_offset, 128, 128};
  m.weight[0] = {to.y_scale * from.y_scale, to.y_scale * luma_u, to.y_scale * luma_v};
  m.weight[1] = {0, to.u_scale * (from.bu - luma_u), -to.u_scale * luma_v};
  m.weight[2] = {0, -to.v_scale * luma_u, to.v_scale * (from.rv - luma_v)};
  m.bias = {to.y_offset, 128, 128};
  return m;
}

Pixel ColorStep::apply(const Pixel& in) const noexcept {
  if (from == to && (from != ColorModel::yuv || same_yuv)) {
    Pixel out = in;
    if (!keeps_alpha) out[3] = 255;
    return out;
  }
  if (to == ColorModel::grey) {
    const double grey = from == ColorModel::yuv ? clamp_code(luma_of(in, from_yuv)) : grey_of(in);
    return {grey, 0, 0, 255};
  }
  if (from == ColorModel::grey && to == ColorModel::yuv) {
    return {to_yuv.y_offset + to_yuv.y_scale * in[0], 128, 128, 255};
  }
  if (from == ColorModel::yuv && to == ColorModel::yuv)
    return yuv_from_yuv(in, yuv_to_yuv(from_yuv, to_yuv));
  Pixel rgb = from == ColorModel::yuv    ? rgb_from_yuv(in, from_yuv)
              : from == ColorModel::grey ? Pixel{in[0], in[0], in[0], 255}
                                         : in;
  if (to == ColorModel::yuv) return yuv_from_rgb(rgb, to_yuv);
  if (!keeps_alpha) rgb[3] = 255;
  return rgb;
}

}  // namespace halyard::image
