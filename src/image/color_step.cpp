// SPDX-License-Identifier: Apache-2.0
// Colour model changes of one pixel.
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

}  // namespace

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
  Pixel rgb = from == ColorModel::yuv    ? rgb_from_yuv(in, from_yuv)
              : from == ColorModel::grey ? Pixel{in[0], in[0], in[0], 255}
                                         : in;
  if (to == ColorModel::yuv) return yuv_from_rgb(rgb, to_yuv);
  if (!keeps_alpha) rgb[3] = 255;
  return rgb;
}

}  // namespace halyard::image
