// SPDX-License-Identifier: Apache-2.0
// Pictures for the image tests: random content, odd strides, guarded padding, comparison.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "halyard/image.h"
#include "halyard/tensor.h"
#include "image/channels.h"

namespace halyard::testing {

using Random = std::mt19937;

inline int pick(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

/// A picture whose rows are `extra` bytes (a multiple of 4) longer than they must be; all bytes,
/// padding too, are random.
inline Tensor random_picture(Random& random, int width, int height, PixelFormat format,
                             DType dtype = DType::u8, std::size_t extra = 0) {
  const auto w = static_cast<std::size_t>(width);
  const auto h = static_cast<std::size_t>(height);
  const std::size_t stride = tight_stride(format, dtype, w).value() + (extra + 1) / 2 * 2;
  const std::size_t bytes = image_bytes(format, dtype, w, h, stride).value();
  auto buffer = allocate(bytes + 64, Memory::mem).value();
  {
    const Map map = buffer->map(Access::write).value();
    for (std::byte& b : map.writable_bytes())
      b = static_cast<std::byte>(random() & 0xFFU);
  }
  const Tensor::PlaneSource whole{buffer, 0, stride};
  return Tensor::wrap_image({&whole, 1}, w, h, format, dtype).value();
}

inline std::vector<std::byte> bytes_of(const Tensor& tensor) {
  const Map map = tensor.buffer()->map(Access::read).value();
  return {map.bytes().begin(), map.bytes().end()};
}

/// A copy with bytes of its own: same strides, same content.
inline Tensor clone(const Tensor& tensor) {
  const std::vector<std::byte> bytes = bytes_of(tensor);
  auto buffer = allocate(bytes.size(), Memory::mem).value();
  {
    const Map map = buffer->map(Access::write).value();
    std::copy(bytes.begin(), bytes.end(), map.writable_bytes().begin());
  }
  const Tensor::PlaneSource whole{buffer, 0, tensor.row_stride_bytes()};
  Tensor out = Tensor::wrap_image({&whole, 1}, tensor.width(), tensor.height(), *tensor.format(),
                                  tensor.dtype())
                   .value();
  out.set_colorimetry(tensor.colorimetry());
  EXPECT_TRUE(out.set_quantization(tensor.quantization()));
  return out;
}

/// Code of channel c (order of the colour model) at a pixel; chroma of the block that holds it.
inline int code_at(const Tensor& tensor, std::size_t c, int x, int y) {
  const TensorMap map = tensor.map(Access::read).value();
  const auto& site = image::channel_map(*tensor.format())->sites[c];
  const auto channel = image::source_channel(map, site, tensor.size(), size_of(tensor.dtype()));
  return std::to_integer<int>(channel.row(
      y >> site.shift_y)[static_cast<std::size_t>(x >> site.shift_x) * channel.step_bytes]);
}

inline float float_at(const Tensor& tensor, std::size_t c, int x, int y) {
  const TensorMap map = tensor.map(Access::read).value();
  const auto& site = image::channel_map(*tensor.format())->sites[c];
  const auto channel = image::source_channel(map, site, tensor.size(), sizeof(float));
  float value = 0;
  std::memcpy(&value, channel.row(y) + static_cast<std::size_t>(x) * channel.step_bytes,
              sizeof value);
  return value;
}

inline void set_code(const Tensor& tensor, std::size_t c, int x, int y, int code) {
  const TensorMap map = tensor.map(Access::read_write).value();
  const auto& site = image::channel_map(*tensor.format())->sites[c];
  const auto channel = image::target_channel(map, site, tensor.size(), 1);
  channel.row(y >> site.shift_y)[static_cast<std::size_t>(x >> site.shift_x) * channel.step_bytes] =
      static_cast<std::byte>(code);
}

/// Greatest difference between two pictures of one kind, in codes (floats: in 1/255).
inline double greatest_difference(const Tensor& a, const Tensor& b) {
  const TensorMap left = a.map(Access::read).value();
  const TensorMap right = b.map(Access::read).value();
  double worst = 0;
  for (std::size_t p = 0; p < left.plane_count(); ++p) {
    for (std::size_t y = 0; y < left.plane(p).rows; ++y) {
      const std::byte* l = left.plane(p).data + y * left.plane(p).stride_bytes;
      const std::byte* r = right.plane(p).data + y * right.plane(p).stride_bytes;
      const std::size_t step = size_of(a.dtype());
      for (std::size_t i = 0; i < left.plane(p).row_bytes; i += step) {
        double difference = 0;
        if (a.dtype() == DType::f32) {
          float lv = 0;
          float rv = 0;
          std::memcpy(&lv, l + i, sizeof lv);
          std::memcpy(&rv, r + i, sizeof rv);
          difference = std::abs(static_cast<double>(lv) - static_cast<double>(rv)) * 255;
        } else if (a.dtype() == DType::i8) {
          difference = std::abs(static_cast<int>(static_cast<std::int8_t>(l[i])) -
                                static_cast<int>(static_cast<std::int8_t>(r[i])));
        } else {
          difference = std::abs(std::to_integer<int>(l[i]) - std::to_integer<int>(r[i]));
        }
        worst = std::max(worst, std::isnan(difference) ? 1e9 : difference);
      }
    }
  }
  return worst;
}

/// Whether all bytes of the buffer that are not the picture's are as they were in `before`.
inline bool padding_untouched(const Tensor& tensor, std::vector<std::byte> before) {
  std::vector<std::byte> after = bytes_of(tensor);
  for (std::size_t p = 0; p < tensor.plane_count(); ++p) {
    const ImagePlane plane = tensor.image_plane(p).value();
    for (std::size_t y = 0; y < plane.rows; ++y) {
      const std::size_t at = plane.offset_bytes + y * plane.stride_bytes;
      std::fill_n(before.begin() + static_cast<std::ptrdiff_t>(at), plane.row_bytes, std::byte{});
      std::fill_n(after.begin() + static_cast<std::ptrdiff_t>(at), plane.row_bytes, std::byte{});
    }
  }
  return before == after;
}

inline constexpr PixelFormat source_formats[] = {
    PixelFormat::nv12, PixelFormat::nv16, PixelFormat::nv24,       PixelFormat::nv21,
    PixelFormat::i420, PixelFormat::yuyv, PixelFormat::vyuy,       PixelFormat::uyvy,
    PixelFormat::yvyu, PixelFormat::rgb,  PixelFormat::bgr,        PixelFormat::rgba,
    PixelFormat::bgra, PixelFormat::grey, PixelFormat::planar_rgb, PixelFormat::planar_rgba};

inline constexpr PixelFormat target_formats[] = {
    PixelFormat::rgb,  PixelFormat::rgba,       PixelFormat::bgra,        PixelFormat::bgr,
    PixelFormat::grey, PixelFormat::planar_rgb, PixelFormat::planar_rgba, PixelFormat::nv12};

inline std::string describe(const Convert& c) {
  std::string text = std::string(to_string(*c.src.format())) + " " + std::to_string(c.src.width()) +
                     "x" + std::to_string(c.src.height()) + " pitch " +
                     std::to_string(c.src.row_stride_bytes()) + " -> " +
                     std::string(to_string(*c.dst.format())) + " " +
                     std::string(to_string(c.dst.dtype())) + " " + std::to_string(c.dst.width()) +
                     "x" + std::to_string(c.dst.height());
  const auto region = [&](const char* name, const std::optional<RegionF>& r) {
    if (!r) return;
    text += std::string(" ") + name + " " + std::to_string(r->x) + "," + std::to_string(r->y) +
            " " + std::to_string(r->width) + "x" + std::to_string(r->height);
  };
  region("crop", c.crop);
  region("place", c.place);
  text += " flip " + std::to_string(static_cast<int>(c.flip)) + " turn " +
          std::to_string(static_cast<int>(c.rotation)) + " fit " +
          std::to_string(static_cast<int>(c.fit)) + " filter " +
          std::to_string(static_cast<int>(c.filter)) + (c.antialias ? " antialiased" : "") +
          (c.chroma == Chroma::bilinear ? " bilinear chroma" : "");
  return text;
}

}  // namespace halyard::testing
