// SPDX-License-Identifier: Apache-2.0
// What a camera's image must look like, worked out without the library's knowledge of layouts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <vector>

#include "halyard/colorimetry.h"
#include "halyard/tensor.h"
#include "vm/camera.h"

namespace halyard::vm {

/// Rows of one colour plane in the driver's own mappings.
struct DriverPlane {
  std::span<const std::byte> bytes;  ///< from the first pixel on
  std::size_t stride_bytes = 0;
};

/// Where V4L2 puts colour plane `index` of a frame: in a buffer of its own, or behind the planes
/// before it, with chroma rows that are as far apart as those of luma by the format's factor.
inline DriverPlane driver_plane(const CameraFormat& format, PixelFormat pixels,
                                const CameraFrame& frame, std::span<const NodeMapping> memory,
                                std::size_t index) {
  if (format.planes.size() > 1) {
    return {memory[index].bytes().subspan(frame.offset_bytes[index]),
            format.planes[index].stride_bytes};
  }
  const std::size_t luma_stride = format.planes[0].stride_bytes;
  const auto luma = std::span<const std::byte>(memory[0].bytes()).subspan(frame.offset_bytes[0]);
  if (index == 0) return {luma, luma_stride};
  const auto chroma = luma.subspan(luma_stride * format.height);
  if (pixels == PixelFormat::nv24) return {chroma, 2 * luma_stride};
  if (pixels != PixelFormat::i420) return {chroma, luma_stride};
  return {chroma.subspan((index - 1) * (luma_stride / 2) * (format.height / 2)), luma_stride / 2};
}

struct Rgb {
  double r = 0, g = 0, b = 0;
};
inline std::ostream& operator<<(std::ostream& out, const Rgb& c) {
  return out << c.r << ' ' << c.g << ' ' << c.b;
}

inline bool is_near(const Rgb& a, const Rgb& b, double maximum) {
  return std::abs(a.r - b.r) <= maximum && std::abs(a.g - b.g) <= maximum &&
         std::abs(a.b - b.b) <= maximum;
}

inline Rgb to_rgb(const Colorimetry& meaning, int y, int u, int v) {
  const YuvToRgb m = yuv_to_rgb(meaning.encoding, meaning.range);
  const double luma = m.y_scale * (y - m.y_offset);
  const auto clip = [](double value) { return std::clamp(value, 0.0, 255.0); };
  return {clip(luma + m.rv * (v - 128)), clip(luma - m.gu * (u - 128) - m.gv * (v - 128)),
          clip(luma + m.bu * (u - 128))};
}

/// The colour at an even column and row, for the formats of 8 bits that have colour.
inline Rgb colour_at(const TensorMap& map, PixelFormat format, const Colorimetry& meaning,
                     std::size_t x, std::size_t y) {
  const auto at = [&](std::size_t plane, std::size_t row, std::size_t column) {
    const MappedPlane& p = map.plane(plane);
    return static_cast<int>(p.data[row * p.stride_bytes + column]);
  };
  // Byte of the first, the second and the third channel within a pixel or a pair of pixels.
  const auto packed = [&](std::size_t first, std::size_t a, std::size_t b, std::size_t c) {
    return std::array{at(0, y, first + a), at(0, y, first + b), at(0, y, first + c)};
  };
  const auto rgb = [](std::array<int, 3> c) {
    return Rgb{static_cast<double>(c[0]), static_cast<double>(c[1]), static_cast<double>(c[2])};
  };
  const auto yuv = [&](std::array<int, 3> c) { return to_rgb(meaning, c[0], c[1], c[2]); };
  switch (format) {
    case PixelFormat::rgb:
      return rgb(packed(3 * x, 0, 1, 2));
    case PixelFormat::bgr:
      return rgb(packed(3 * x, 2, 1, 0));
    case PixelFormat::rgba:
      return rgb(packed(4 * x, 0, 1, 2));
    case PixelFormat::bgra:
      return rgb(packed(4 * x, 2, 1, 0));
    case PixelFormat::yuyv:
      return yuv(packed(2 * x, 0, 1, 3));
    case PixelFormat::yvyu:
      return yuv(packed(2 * x, 0, 3, 1));
    case PixelFormat::uyvy:
      return yuv(packed(2 * x, 1, 0, 2));
    case PixelFormat::vyuy:
      return yuv(packed(2 * x, 1, 2, 0));
    case PixelFormat::nv12:
      return yuv({at(0, y, x), at(1, y / 2, x), at(1, y / 2, x + 1)});
    case PixelFormat::nv21:
      return yuv({at(0, y, x), at(1, y / 2, x + 1), at(1, y / 2, x)});
    case PixelFormat::nv16:
      return yuv({at(0, y, x), at(1, y, x), at(1, y, x + 1)});
    case PixelFormat::nv24:
      return yuv({at(0, y, x), at(1, y, 2 * x), at(1, y, 2 * x + 1)});
    case PixelFormat::i420:
      return yuv({at(0, y, x), at(1, y / 2, x / 2), at(2, y / 2, x / 2)});
    default:
      return {-1, -1, -1};
  }
}

}  // namespace halyard::vm
