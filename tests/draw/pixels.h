// SPDX-License-Identifier: Apache-2.0
// Images for the drawing tests: filled with one grey, read back pixel by pixel.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "halyard/draw.h"
#include "halyard/tensor.h"

namespace halyard::test {

inline constexpr std::uint8_t background = 90;
inline constexpr Color background_color{background, background, background};

inline Tensor plain_image(std::size_t width, std::size_t height,
                          PixelFormat format = PixelFormat::rgb) {
  Tensor image = *Tensor::create_image(width, height, format, DType::u8, Memory::mem);
  const auto map = *image.map(Access::write);
  std::memset(map.writable(), background, image.size_bytes());
  return image;
}

inline std::vector<std::uint8_t> bytes_of(const Tensor& image) {
  const auto map = *image.map(Access::read);
  const MappedPlane& plane = map.plane(0);
  std::vector<std::uint8_t> bytes;
  for (std::size_t y = 0; y < plane.rows; ++y) {
    const auto* row = reinterpret_cast<const std::uint8_t*>(plane.data) + y * plane.stride_bytes;
    bytes.insert(bytes.end(), row, row + plane.row_bytes);
  }
  return bytes;
}

/// Colours of an image by (x, y).
class Pixels {
 public:
  explicit Pixels(const Tensor& image)
      : bytes_(bytes_of(image)),
        width_(image.width()),
        height_(image.height()),
        channels_(info(*image.format()).channels) {}
  Color operator()(int x, int y) const {
    const std::uint8_t* p = at(x, y);
    return {p[0], p[1], p[2]};
  }
  std::uint8_t alpha(int x, int y) const { return at(x, y)[3]; }
  /// How many pixels differ from the background.
  std::size_t changed() const {
    std::size_t n = 0;
    for (int y = 0; y < static_cast<int>(height_); ++y)
      for (int x = 0; x < static_cast<int>(width_); ++x)
        n += (*this)(x, y) != background_color;
    return n;
  }

 private:
  const std::uint8_t* at(int x, int y) const {
    return bytes_.data() +
           (static_cast<std::size_t>(y) * width_ + static_cast<std::size_t>(x)) * channels_;
  }
  std::vector<std::uint8_t> bytes_;
  std::size_t width_;
  std::size_t height_;
  std::size_t channels_;
};

}  // namespace halyard::test
