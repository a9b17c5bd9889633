// SPDX-License-Identifier: Apache-2.0
// Colours of one pixel: Y'CbCr by kr, kb and the range's swings, grey, alpha.
#include <algorithm>

#include "image/reference/reference.h"

namespace halyard::reference {
namespace {

struct ColourMatrix {
  double kr, kb;
  double offset, luma, chroma;  ///< codes: black, and the swings
  double kg() const { return 1 - kr - kb; }
  friend bool operator==(const ColourMatrix&, const ColourMatrix&) = default;
};

// Unknown values: HD from 720 rows on, and limited range.
ColourMatrix matrix_of(const Colorimetry& c, std::size_t height) {
  ColorEncoding encoding = c.encoding;
  if (encoding == ColorEncoding::unknown)
    encoding = height >= 720 ? ColorEncoding::bt709 : ColorEncoding::bt601;
  ColourMatrix m{0.299, 0.114, 16, 219, 224};
  if (encoding == ColorEncoding::bt709) m = {0.2126, 0.0722, 16, 219, 224};
  if (encoding == ColorEncoding::bt2020) m = {0.2627, 0.0593, 16, 219, 224};
  if (c.range == ColorRange::full) {
    m.offset = 0;
    m.luma = m.chroma = 255;
  }
  return m;
}

double full_luma(double y, const ColourMatrix& m) {
  return std::max((y - m.offset) * 255 / m.luma, 0.0);
}

double clamped(double code) {
  return std::clamp(code, 0.0, 255.0);
}

// Cb = (B - Y) / (2 (1 - kb)), Cr likewise, and Y = kr R + kg G + kb B, solved for R, G, B, from
// luma in full range.
Pixel solved(double y, const Pixel& in, const ColourMatrix& m) {
  const double cb = (in[1] - 128) * 255 / m.chroma;
  const double cr = (in[2] - 128) * 255 / m.chroma;
  const double r = y + 2 * (1 - m.kr) * cr;
  const double b = y + 2 * (1 - m.kb) * cb;
  return {r, (y - m.kr * r - m.kb * b) / m.kg(), b, in[3]};
}

// Colours outside the RGB gamut are clamped.
Pixel to_rgb(const Pixel& in, const ColourMatrix& m) {
  const Pixel rgb = solved(full_luma(in[0], m), in, m);
  return {clamped(rgb[0]), clamped(rgb[1]), clamped(rgb[2]), rgb[3]};
}

// To other Y'CbCr nothing is clamped: neither colours nor luma below black.
Pixel to_unbounded_rgb(const Pixel& in, const ColourMatrix& m) {
  return solved((in[0] - m.offset) * 255 / m.luma, in, m);
}

Pixel to_yuv(const Pixel& rgb, const ColourMatrix& m) {
  const double y = m.kr * rgb[0] + m.kg() * rgb[1] + m.kb * rgb[2];
  return {m.offset + y * m.luma / 255, 128 + (rgb[2] - y) / (2 * (1 - m.kb)) * m.chroma / 255,
          128 + (rgb[0] - y) / (2 * (1 - m.kr)) * m.chroma / 255, rgb[3]};
}

Pixel changed(const ColourChange& c, const Pixel& in) {
  const ColourMatrix source = matrix_of(c.source, c.source_height);
  const ColourMatrix destination = matrix_of(c.destination, c.destination_height);
  if (c.keeps_codes()) return in;
  if (c.to == ColorModel::grey) {
    const double grey = c.from == ColorModel::yuv ? full_luma(in[0], source)
                                                  : 0.299 * in[0] + 0.587 * in[1] + 0.114 * in[2];
    return {grey, 0, 0, 255};
  }
  Pixel rgb = in;
  if (c.from == ColorModel::grey) rgb = {in[0], in[0], in[0], in[3]};
  if (c.from == ColorModel::yuv)
    rgb = c.to == ColorModel::yuv ? to_unbounded_rgb(in, source) : to_rgb(in, source);
  return c.to == ColorModel::yuv ? to_yuv(rgb, destination) : rgb;
}

bool steps(const ColourChange& c, AlphaStep step) {
  return c.from_alpha && c.to_alpha && c.alpha == step;
}

}  // namespace

bool ColourChange::keeps_codes() const {
  if (from != to) return false;
  return from != ColorModel::yuv ||
         matrix_of(source, source_height) == matrix_of(destination, destination_height);
}

Pixel ColourChange::apply(const Pixel& in) const {
  Pixel pixel = in;
  if (!from_alpha || !to_alpha) pixel[3] = 255;
  for (std::size_t c = 0; c < 3; ++c) {
    if (steps(*this, AlphaStep::premultiply)) pixel[c] = in[c] * in[3] / 255;
    if (steps(*this, AlphaStep::unpremultiply)) pixel[c] = in[3] > 0 ? in[c] * 255 / in[3] : 0;
  }
  pixel = changed(*this, pixel);
  for (double& code : pixel)
    code = clamped(code);
  return pixel;
}

// Division by a small alpha turns a tenth of an input code into many codes.
double ColourChange::slack(const Pixel& in) const {
  if (!steps(*this, AlphaStep::unpremultiply) || in[3] == 0) return 0;
  constexpr double input = 0.1;
  return std::min(255.0, input * (255 + 255) / std::max(in[3], 1e-3));
}

}  // namespace halyard::reference
