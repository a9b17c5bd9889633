// SPDX-License-Identifier: Apache-2.0
// Formats requests as text.
#include "image/reference/describe.h"

#include <sstream>

namespace halyard::test {
namespace {

template <class T>
void word(std::ostream& out, const char* name, T value) {
  if (value != T{}) out << ' ' << name << '=' << static_cast<int>(value);
}

void region(std::ostream& out, const char* name, const RegionF& r) {
  out << ' ' << name << ' ' << r.x << ',' << r.y << ' ' << r.width << 'x' << r.height;
}

void image(std::ostream& out, const Tensor& t, const std::optional<Quantization>& q) {
  out << to_string(*t.format()) << ' ' << to_string(t.dtype()) << ' ' << t.width() << 'x'
      << t.height() << " pitch " << t.row_stride_bytes() << " at " << t.offset_bytes();
  const Colorimetry& c = t.colorimetry();
  if (c != Colorimetry{}) out << ' ' << to_string(c.encoding) << ',' << to_string(c.range);
  if (!q) return;
  out << " scale/zero";
  for (std::size_t i = 0; i < q->scale.size(); ++i)
    out << ' ' << q->scale[i] << '/' << q->zero_point_at(i);
}

void numbers(std::ostream& out, const Convert& c) {
  if (c.normalize) {
    out << " normalize";
    for (std::size_t i = 0; i < 4; ++i)
      out << ' ' << c.normalize->scale[i] << '/' << c.normalize->bias[i];
  }
  if (c.affine) {
    out << " affine";
    for (const double m : c.affine->m)
      out << ' ' << m;
  }
  out << " pad";
  for (const int code : c.pad)
    out << ' ' << code;
}

}  // namespace

std::string describe(const Tensor& t) {
  std::ostringstream out;
  image(out, t, t.quantization());
  return out.str();
}

std::string describe(const Convert& c) {
  constexpr const char* filters[] = {"nearest", "bilinear", "bicubic", "lanczos3", "box"};
  std::ostringstream out;
  out.precision(17);
  image(out, c.src, c.src.quantization());
  out << " -> ";
  image(out, c.dst.as_image().value(), c.dst.quantization());
  if (c.crop) region(out, "crop", *c.crop);
  if (c.place) region(out, "place", *c.place);
  const Orientation own = c.orientation.value_or(c.src.orientation());
  word(out, "orientation.flip", own.flip);
  word(out, "orientation.rotation", own.rotation);
  word(out, "flip", c.flip);
  word(out, "rotation", c.rotation);
  word(out, "fit", c.fit);
  word(out, "letterbox", c.letterbox);
  out << ' ' << filters[static_cast<std::size_t>(c.filter)];
  word(out, "antialias", c.antialias);
  word(out, "chroma", c.chroma);
  word(out, "alpha", c.alpha);
  word(out, "bgr", c.bgr);
  word(out, "source_bits", c.source_bits);
  numbers(out, c);
  return out.str();
}

}  // namespace halyard::test
