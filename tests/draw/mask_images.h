// SPDX-License-Identifier: Apache-2.0
// Images of noise in any format, and blending written the plain way: pixel by pixel, from what
// the header says.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "halyard/mask_draw.h"

namespace halyard::test {

inline constexpr PixelFormat formats[] = {
    PixelFormat::rgb,        PixelFormat::bgr,         PixelFormat::rgba, PixelFormat::bgra,
    PixelFormat::planar_rgb, PixelFormat::planar_rgba, PixelFormat::nv12, PixelFormat::grey};

/// One vector of tight rows for each plane.
using Planes = std::vector<std::vector<std::uint8_t>>;

inline Planes planes_of(const Tensor& image) {
  const auto map = *image.map(Access::read);
  Planes out(map.plane_count());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const MappedPlane& plane = map.plane(i);
    const auto* data = reinterpret_cast<const std::uint8_t*>(plane.data);
    for (std::size_t y = 0; y < plane.rows; ++y, data += plane.stride_bytes)
      out[i].insert(out[i].end(), data, data + plane.row_bytes);
  }
  return out;
}

inline void fill_noise(const Tensor& image, unsigned seed) {
  std::mt19937 random(seed);
  const auto map = *image.map(Access::write);
  for (std::size_t i = 0; i < map.plane_count(); ++i) {
    const MappedPlane& plane = map.plane(i);
    for (std::size_t y = 0; y < plane.rows; ++y) {
      for (std::size_t x = 0; x < plane.row_bytes; ++x)
        plane.writable[y * plane.stride_bytes + x] = static_cast<std::byte>(random());
    }
  }
}

/// `pad` bytes more than the tight stride.
inline Tensor noise_image(Size size, PixelFormat format, unsigned seed, std::size_t pad = 0) {
  const auto width = static_cast<std::size_t>(size.width);
  ImageOptions options;
  options.memory = Memory::mem;
  options.stride_bytes = *tight_stride(format, DType::u8, width) + pad;
  Tensor out = *Tensor::create_image(width, static_cast<std::size_t>(size.height), format, options);
  fill_noise(out, seed);
  return out;
}

/// What an image should look like.
class Plain {
 public:
  explicit Plain(const Tensor& image)
      : format_(*image.format()),
        width_(image.width()),
        height_(image.height()),
        colorimetry_(resolve(image.colorimetry(), image.height())),
        planes_(planes_of(image)) {}

  /// `on(x, y)`: whether the mask is on there.
  template <class On>
  void blend(const On& on, const Color& color, unsigned alpha) {
    blend_each([&](std::size_t x, std::size_t y) { return on(x, y) ? alpha : 0U; },
               [&](std::size_t, std::size_t) { return color; });
  }

  /// The weight and the colour of every pixel.
  template <class Alpha, class ColorAt>
  void blend_each(const Alpha& alpha, const ColorAt& color) {
    for (std::size_t y = 0; y < height_; ++y) {
      for (std::size_t x = 0; x < width_; ++x)
        blend_pixel(x, y, color(x, y), alpha(x, y));
    }
    if (format_ != PixelFormat::nv12) return;
    for (std::size_t y = 0; y < height_; y += 2) {
      for (std::size_t x = 0; x < width_; x += 2)
        blend_block(x, y, alpha, color);
    }
  }

  const Planes& planes() const { return planes_; }

 private:
  using Bytes = std::array<std::uint8_t, 3>;

  // Y, U, V.
  Bytes yuv(const Color& c) const {
    const RgbToYuv m = rgb_to_yuv(colorimetry_.encoding, colorimetry_.range);
    const double luma = m.kr * c.r + m.kg * c.g + m.kb * c.b;
    const auto code = [](double v) {
      return static_cast<std::uint8_t>(std::lround(std::clamp(v, 0.0, 255.0)));
    };
    return {code(m.y_offset + m.y_scale * luma), code(128 + m.u_scale * (c.b - luma)),
            code(128 + m.v_scale * (c.r - luma))};
  }

  static void mix(std::uint8_t& pixel, unsigned color, unsigned alpha) {
    pixel = static_cast<std::uint8_t>(std::lround((color * alpha + pixel * (255.0 - alpha)) / 255));
  }

  void blend_pixel(std::size_t x, std::size_t y, const Color& c, unsigned alpha) {
    const std::size_t at = y * width_ + x;
    if (format_ == PixelFormat::nv12) return mix(planes_[0][at], yuv(c)[0], alpha);
    if (format_ == PixelFormat::grey) {
      const double grey = 0.299 * c.r + 0.587 * c.g + 0.114 * c.b;
      return mix(planes_[0][at], static_cast<unsigned>(std::lround(grey)), alpha);
    }
    const Bytes bytes{c.r, c.g, c.b};
    const bool swapped = format_ == PixelFormat::bgr || format_ == PixelFormat::bgra;
    const FormatInfo& facts = info(format_);
    for (std::size_t k = 0; k < 3; ++k) {
      std::uint8_t& pixel =
          facts.kind == FormatKind::planar ? planes_[k][at] : planes_[0][at * facts.channels + k];
      mix(pixel, bytes[swapped ? 2 - k : k], alpha);
    }
  }

  template <class Alpha, class ColorAt>
  void blend_block(std::size_t x, std::size_t y, const Alpha& alpha, const ColorAt& color) {
    const std::size_t columns = (width_ + 1) / 2;
    for (std::size_t k = 0; k < 2; ++k) {
      std::uint8_t& pixel = planes_[1][2 * ((y / 2) * columns + x / 2) + k];
      double sum = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t px = std::min(x + i % 2, width_ - 1);
        const std::size_t py = std::min(y + i / 2, height_ - 1);
        const unsigned a = alpha(px, py);
        sum += yuv(color(px, py))[1 + k] * a + pixel * (255.0 - a);
      }
      pixel = static_cast<std::uint8_t>(std::floor(sum / 1020 + 0.5));
    }
  }

  PixelFormat format_;
  std::size_t width_;
  std::size_t height_;
  Colorimetry colorimetry_;
  Planes planes_;
};

/// How many bytes of all planes differ.
inline std::size_t differences(const Planes& a, const Planes& b) {
  std::size_t count = 0;
  EXPECT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].size(), b[i].size());
    for (std::size_t k = 0; k < a[i].size(); ++k)
      count += a[i][k] != b[i][k];
  }
  return count;
}

}  // namespace halyard::test
