// SPDX-License-Identifier: Apache-2.0
// Makes requests from numbers.
#include "image/requests.h"

#include <cmath>

namespace halyard::test {
namespace {

using F = PixelFormat;

constexpr PixelFormat request_targets[] = {
    F::rgb,  F::rgba, F::bgr,  F::bgra, F::grey, F::planar_rgb, F::planar_rgba, F::nv12,
    F::nv21, F::nv16, F::nv24, F::i420, F::yuyv, F::uyvy,       F::vyuy,        F::yvyu};
constexpr DType dtypes[] = {DType::u8, DType::i8, DType::u16, DType::f16, DType::bf16, DType::f32};
constexpr int widths[] = {1,  2,  3,  5,  7,  8,  11, 16, 17, 23,
                          31, 32, 33, 47, 48, 63, 64, 65, 97, 131};
constexpr int source_bits[] = {0, 0, 10, 12, 16};

PixelFormat source_of(const std::vector<int>& v) {
  return all_formats()[static_cast<std::size_t>(v[f_source])].format;
}
PixelFormat target_of(const std::vector<int>& v) {
  return request_targets[v[f_target]];
}
ColorModel model_of(PixelFormat format) {
  return info(format).model;
}

/// Changes `factor` to the next value that is accepted, if it may be changed.
template <class Pleases>
bool settle(std::vector<int>& v, const std::vector<bool>& fixed, Factor factor, Pleases pleases) {
  if (pleases()) return true;
  if (fixed[factor]) return false;
  const int levels = factor_levels()[factor];
  for (int n = 1; n < levels; ++n) {
    v[factor] = (v[factor] + 1) % levels;
    if (pleases()) return true;
  }
  return false;
}

/// First the field itself is changed, then the formats.
template <class Pleases>
bool settle_any(std::vector<int>& v, const std::vector<bool>& fixed,
                std::initializer_list<Factor> factors, Pleases pleases) {
  for (const Factor factor : factors) {
    if (settle(v, fixed, factor, pleases)) return true;
  }
  return false;
}

std::array<std::uint8_t, 4> pad_of(int kind, Random& random) {
  if (kind == 0) return {114, 114, 114, 255};
  if (kind == 1) return {255, 0, 0, 255};
  std::array<std::uint8_t, 4> pad{};
  for (auto& code : pad)
    code = static_cast<std::uint8_t>(pick(random, 0, 255));
  return pad;
}

void make_extreme(Buffer& buffer, DType dtype, int bits) {
  const Map map = buffer.map(Access::write).value();
  const auto bytes = map.writable_bytes();
  const std::size_t step = size_of(dtype);
  const unsigned high = 0xFFU >> (bits == 0 ? 0 : 16 - bits);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool is_set = (std::to_integer<unsigned>(bytes[i / step * step]) & 1U) != 0;
    bytes[i] = static_cast<std::byte>(!is_set ? 0U : step == 2 && i % 2 == 1 ? high : 0xFFU);
  }
}

Colorimetry colours_of(int kind) {
  Colorimetry c;
  if (kind == 0) return c;
  c.encoding = static_cast<ColorEncoding>(1 + (kind - 1) / 2);
  c.range = static_cast<ColorRange>(1 + (kind - 1) % 2);
  return c;
}

Size target_size(int kind, Size rotated, Random& random) {
  switch (kind) {
    case 0:
      return rotated;
    case 1:
      return {(rotated.width + 1) / 2, (rotated.height + 1) / 2};
    case 2:
      return {std::max(1, rotated.width / 3 + pick(random, 0, 3)),
              std::max(1, rotated.height / 3 + pick(random, 0, 2))};
    case 3:
      return {rotated.width * 2 + pick(random, 0, 5), rotated.height * 3 + pick(random, 0, 2)};
    default:
      return {pick(random, 1, 3), pick(random, 1, 9)};
  }
}

RegionF crop_of(int kind, Size size, Random& random) {
  const int w = pick(random, 1, size.width);
  const int h = pick(random, 1, size.height);
  const Region whole{pick(random, 0, size.width - w), pick(random, 0, size.height - h), w, h};
  if (kind == 1) return whole;
  // Odd parts, so that no centre falls between two samples by chance.
  const auto part = [&](double maximum) {
    return std::uniform_real_distribution<double>(0.05, maximum)(random);
  };
  RegionF crop;
  crop.x = whole.x + part(0.45);
  crop.y = whole.y + part(0.45);
  crop.width = whole.width - (crop.x - whole.x) - part(0.45);
  crop.height = whole.height - (crop.y - whole.y) - part(0.45);
  return crop;
}

Region part_of(Size size, Random& random) {
  const int w = pick(random, (size.width + 1) / 2, size.width);
  const int h = pick(random, (size.height + 1) / 2, size.height);
  return {pick(random, 0, size.width - w), pick(random, 0, size.height - h), w, h};
}

Normalize some_normalize(DType dtype, Random& random) {
  std::uniform_real_distribution<float> unit(0.1F, 1.0F);
  Normalize n = Normalize::mean_std({unit(random), unit(random), unit(random)},
                                    {unit(random), unit(random), unit(random)});
  if (is_float(dtype)) n.scale[1] = -n.scale[1];
  return n;
}

Quantization some_quantization(const Tensor& dst, bool per_channel, Random& random) {
  const double steps = dst.dtype() == DType::u16 ? 65535 : 255;
  const auto scale = [&] {
    return static_cast<float>(std::uniform_real_distribution<double>(0.7, 2.5)(random) / steps);
  };
  const auto zero = [&] {
    return dst.dtype() == DType::i8 ? pick(random, -128, 0) : pick(random, 0, 9);
  };
  if (!per_channel) return Quantization::per_tensor(scale(), zero());
  const std::size_t axis = info(*dst.format()).kind == FormatKind::planar ? 0 : 2;
  Quantization q;
  for (std::size_t i = 0; i < dst.shape()[axis]; ++i) {
    q.scale.push_back(scale());
    q.zero_point.push_back(zero());
  }
  if (q.scale.size() > 1) q.axis = axis;
  return q;
}

void set_numbers(Convert& c, int kind, Random& random) {
  if (kind == 1 || kind == 3) c.normalize = some_normalize(c.dst.dtype(), random);
  if (kind < 2) return;
  EXPECT_TRUE(c.dst.set_quantization(some_quantization(c.dst, kind == 4, random)));
}

void set_request(Convert& c, const std::vector<int>& v) {
  c.orientation = Orientation{static_cast<Flip>(v[f_orientation] % 3),
                              static_cast<Rotation>(v[f_orientation] / 3)};
  c.flip = static_cast<Flip>(v[f_flip]);
  c.rotation = static_cast<Rotation>(v[f_rotation]);
  c.fit = static_cast<Fit>(v[f_fit]);
  c.letterbox = static_cast<LetterboxRule>(v[f_letterbox]);
  c.filter = static_cast<Filter>(v[f_filter]);
  c.antialias = v[f_antialias] == 1;
  c.chroma = static_cast<Chroma>(v[f_chroma]);
  c.alpha = static_cast<AlphaStep>(v[f_alpha]);
  c.bgr = v[f_bgr] == 1;
}

}  // namespace

const std::vector<int>& factor_levels() {
  static const std::vector<int> levels = [] {
    std::vector<int> l(factor_count, 2);
    l[f_source] = 20;
    l[f_depth] = 5;
    l[f_target] = 16;
    l[f_dtype] = 6;
    l[f_filter] = 5;
    l[f_orientation] = 12;
    l[f_flip] = 3;
    l[f_rotation] = 4;
    l[f_fit] = 4;
    l[f_letterbox] = 3;
    l[f_crop] = 3;
    l[f_pad] = 3;
    l[f_colours_in] = l[f_colours_out] = 7;
    l[f_width] = 20;
    l[f_height] = 9;
    l[f_size] = 5;
    l[f_source_extra] = l[f_target_extra] = l[f_offsets] = 3;
    l[f_alpha] = 3;
    l[f_numbers] = 5;
    return l;
  }();
  return levels;
}

bool make_legal(std::vector<int>& v, const std::vector<bool>& fixed) {
  const auto has_alpha = [](PixelFormat format) { return info(format).has_alpha; };
  const auto served = [&] {
    const DType from = v[f_depth] == 0 ? DType::u8 : DType::u16;
    return conversion_declined(source_of(v), from, target_of(v), dtypes[v[f_dtype]]) == nullptr;
  };
  const auto alpha = [&] {
    return v[f_alpha] == 0 || (has_alpha(source_of(v)) && has_alpha(target_of(v)));
  };
  const auto bgr = [&] { return v[f_bgr] == 0 || model_of(target_of(v)) == ColorModel::rgb; };
  const auto numbers = [&] {
    if (v[f_numbers] == 0) return true;
    if (v[f_numbers] == 1) return is_float(dtypes[v[f_dtype]]);
    if (v[f_numbers] == 4 && model_of(target_of(v)) == ColorModel::yuv) return false;
    return is_integer(dtypes[v[f_dtype]]);
  };
  // A mosaic of one row or column lacks one colour.
  const auto mosaic = [&] {
    return model_of(source_of(v)) != ColorModel::bayer ||
           (v[f_width] > 0 && v[f_height] + v[f_tall] > 0);
  };
  for (int round = 0; round < 2; ++round) {
    if (!settle_any(v, fixed, {f_depth, f_dtype, f_target, f_source}, served)) return false;
    if (!settle_any(v, fixed, {f_alpha, f_target, f_source}, alpha)) {
      // Changes both formats together.
      if (fixed[f_target] || fixed[f_source]) return false;
      v[f_source] = static_cast<int>(F::rgba);
      v[f_target] = 1;
    }
    if (!settle_any(v, fixed, {f_bgr, f_target}, bgr)) return false;
    if (!settle_any(v, fixed, {f_numbers, f_dtype, f_target}, numbers)) return false;
    if (!settle_any(v, fixed, {f_width, f_height, f_source}, mosaic)) {
      if (fixed[f_width] || fixed[f_height]) return false;
      v[f_width] = v[f_height] = 3;
    }
    if (served() && alpha() && bgr() && numbers() && mosaic()) return true;
  }
  return false;
}

Convert build_request(const std::vector<int>& v, Random& random) {
  Convert c;
  set_request(c, v);
  const Size size{widths[v[f_width]], (1 + v[f_height]) * (v[f_tall] == 1 ? 7 : 1)};
  const int bits = source_bits[v[f_depth]];
  const DType depth = v[f_depth] == 0 ? DType::u8 : DType::u16;
  const auto offset = [&](DType dtype) {
    return v[f_offsets] == 0 ? 0 : static_cast<std::size_t>(pick(random, 1, 33)) * size_of(dtype);
  };
  const auto extra = [&](int kind) {
    return kind == 0 ? 0 : static_cast<std::size_t>(kind == 1 ? 4 : 4 * pick(random, 2, 17));
  };
  c.source_bits = static_cast<std::uint8_t>(bits);
  c.src = random_image(random, size.width, size.height, source_of(v), depth,
                       extra(v[f_source_extra]), offset(depth), bits);
  if (v[f_bytes] == 1) make_extreme(*c.src.buffer(), depth, bits);
  c.src.set_colorimetry(colours_of(v[f_colours_in]));
  const Size upright = oriented(size, *c.orientation);
  // The orientation may come from the request or from the source; the result is the same.
  if (v[f_flip] == 1) {
    c.src.set_orientation(*c.orientation);
    c.orientation.reset();
  }
  const Size rotated = oriented(upright, {c.flip, c.rotation});
  const Size target = target_size(v[f_size], rotated, random);
  const DType dtype = dtypes[v[f_dtype]];
  c.dst = random_image(random, target.width, target.height, target_of(v), dtype,
                       extra(v[f_target_extra]), offset(dtype));
  c.dst.set_colorimetry(colours_of(v[f_colours_out]));
  if (v[f_crop] != 0) c.crop = crop_of(v[f_crop], upright, random);
  if (v[f_place] != 0) c.place = part_of(target, random);
  c.pad = pad_of(v[f_pad], random);
  set_numbers(c, v[f_numbers], random);
  return c;
}

}  // namespace halyard::test
