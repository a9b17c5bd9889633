// SPDX-License-Identifier: Apache-2.0
// Samples of every format, from the description of its bytes; Bayer mosaics from their neighbours.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "image/reference/reference.h"

namespace halyard::reference {
namespace {

using F = PixelFormat;

// Bytes of a packed YUV pair in memory: Y u y v, where Y is the first luma.
Site packed_pair(std::string_view order, std::size_t channel) {
  if (channel == 0) return {0, static_cast<int>(order.find('Y')), 2, 0, 0};
  return {0, static_cast<int>(order.find(channel == 1 ? 'u' : 'v')), 4, 1, 0};
}

Site packed_colours(std::string_view order, std::size_t channel) {
  const auto at = static_cast<int>(order.find("RGBA"[channel]));
  return {0, at, static_cast<int>(order.size()), 0, 0};
}

Site semi_planar(std::size_t channel, bool v_first, int shift_x, int shift_y) {
  if (channel == 0) return {0, 0, 1, 0, 0};
  return {1, (channel == 1) == v_first ? 1 : 0, 2, shift_x, shift_y};
}

std::string_view mosaic_of(PixelFormat format) {
  switch (format) {
    case F::bayer_rggb:
      return "RGGB";
    case F::bayer_bggr:
      return "BGGR";
    case F::bayer_grbg:
      return "GRBG";
    case F::bayer_gbrg:
      return "GBRG";
    default:
      return "";
  }
}

double number_at(const std::byte* at, DType dtype) {
  if (dtype == DType::u8) return std::to_integer<int>(*at);
  std::uint16_t wide = 0;
  std::memcpy(&wide, at, sizeof wide);
  return wide;
}

Plane read_plane(const TensorMap& map, const Tensor& image, const Site& site, double unit) {
  Plane plane;
  plane.shift_x = site.shift_x;
  plane.shift_y = site.shift_y;
  plane.columns = (static_cast<int>(image.width()) + (1 << site.shift_x) - 1) >> site.shift_x;
  plane.rows = (static_cast<int>(image.height()) + (1 << site.shift_y) - 1) >> site.shift_y;
  const MappedPlane& mapped = map.plane(static_cast<std::size_t>(site.plane));
  const std::size_t bytes = size_of(image.dtype());
  for (int y = 0; y < plane.rows; ++y) {
    const std::byte* row = mapped.data + static_cast<std::size_t>(y) * mapped.stride_bytes;
    for (int x = 0; x < plane.columns; ++x) {
      const auto element = static_cast<std::size_t>(site.offset + x * site.step);
      plane.codes.push_back(number_at(row + element * bytes, image.dtype()) * unit);
    }
  }
  return plane;
}

// -1 is 1, n is n - 2: a step of two, so that the colour of the mosaic is the requested one.
int reflected(int i, int n) {
  if (n == 1) return 0;
  if (i < 0) return -i;
  return i < n ? i : 2 * (n - 1) - i;
}

char colour_at(std::string_view mosaic, int x, int y) {
  return mosaic[static_cast<std::size_t>((y & 1) * 2 + (x & 1))];
}

double demosaiced(const Plane& raw, std::string_view mosaic, char colour, int x, int y) {
  if (colour_at(mosaic, x, y) == colour) return raw.at(x, y);
  // The four neighbours beside it; if none has the colour, the four at its corners.
  static constexpr int beside[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  static constexpr int corner[4][2] = {{-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
  for (const auto& ring : {beside, corner}) {
    double sum = 0;
    int count = 0;
    for (int n = 0; n < 4; ++n) {
      const int i = x + ring[n][0];
      const int j = y + ring[n][1];
      if (colour_at(mosaic, i, j) != colour) continue;
      sum += raw.at(reflected(i, raw.columns), reflected(j, raw.rows));
      ++count;
    }
    if (count != 0) return sum / count;
  }
  return 0;
}

std::vector<Plane> demosaic(const Plane& raw, std::string_view mosaic) {
  std::vector<Plane> colours(3, raw);
  for (std::size_t c = 0; c < 3; ++c) {
    colours[c].codes.clear();
    for (int y = 0; y < raw.rows; ++y) {
      for (int x = 0; x < raw.columns; ++x)
        colours[c].codes.push_back(demosaiced(raw, mosaic, "RGB"[c], x, y));
    }
  }
  return colours;
}

}  // namespace

Site site_of(PixelFormat format, std::size_t channel) {
  switch (format) {
    case F::yuyv:
      return packed_pair("Yuyv", channel);
    case F::yvyu:
      return packed_pair("Yvyu", channel);
    case F::uyvy:
      return packed_pair("uYvy", channel);
    case F::vyuy:
      return packed_pair("vYuy", channel);
    case F::rgb:
      return packed_colours("RGB", channel);
    case F::bgr:
      return packed_colours("BGR", channel);
    case F::rgba:
      return packed_colours("RGBA", channel);
    case F::bgra:
      return packed_colours("BGRA", channel);
    case F::nv12:
      return semi_planar(channel, false, 1, 1);
    case F::nv21:
      return semi_planar(channel, true, 1, 1);
    case F::nv16:
      return semi_planar(channel, false, 1, 0);
    case F::nv24:
      return semi_planar(channel, false, 0, 0);
    case F::i420: {
      const int shift = channel == 0 ? 0 : 1;
      return {static_cast<int>(channel), 0, 1, shift, shift};
    }
    case F::planar_rgb:
    case F::planar_rgba:
      return {static_cast<int>(channel), 0, 1, 0, 0};
    default:
      return {0, 0, 1, 0, 0};
  }
}

std::size_t channel_count(PixelFormat format) {
  const FormatInfo& f = info(format);
  if (f.model == ColorModel::grey) return 1;
  return f.has_alpha ? 4 : 3;
}

std::vector<Plane> read_samples(const Tensor& image, int source_bits) {
  const TensorMap map = image.map(Access::read).value();
  const PixelFormat format = *image.format();
  const int wide_bits = source_bits == 0 ? 16 : source_bits;
  const double unit =
      image.dtype() == DType::u8 ? 1 : 255 / (std::exp2(static_cast<double>(wide_bits)) - 1);
  if (info(format).model == ColorModel::bayer)
    return demosaic(read_plane(map, image, {0, 0, 1, 0, 0}, unit), mosaic_of(format));
  std::vector<Plane> planes;
  for (std::size_t c = 0; c < channel_count(format); ++c)
    planes.push_back(read_plane(map, image, site_of(format, c), unit));
  return planes;
}

double stored_number(const TensorMap& map, const Tensor& image, const Convert& request,
                     std::size_t channel, int x, int y) {
  const bool swaps = request.bgr && info(*image.format()).model == ColorModel::rgb && channel < 3;
  const Site site = site_of(*image.format(), swaps ? 2 - channel : channel);
  const MappedPlane& plane = map.plane(static_cast<std::size_t>(site.plane));
  const std::byte* at =
      plane.data + static_cast<std::size_t>(y) * plane.stride_bytes +
      static_cast<std::size_t>(site.offset + x * site.step) * size_of(image.dtype());
  switch (image.dtype()) {
    case DType::i8:
      if (channel == 3 && stores_codes(request)) return std::to_integer<int>(*at);
      return static_cast<double>(static_cast<std::int8_t>(*at));
    case DType::f32: {
      float number = 0;
      std::memcpy(&number, at, sizeof number);
      return static_cast<double>(number);
    }
    case DType::f16: {
      Half number{};
      std::memcpy(&number, at, sizeof number);
      return static_cast<double>(to_float(number));
    }
    case DType::bf16: {
      BFloat16 number{};
      std::memcpy(&number, at, sizeof number);
      return static_cast<double>(to_float(number));
    }
    default:
      return number_at(at, image.dtype());
  }
}

}  // namespace halyard::reference
