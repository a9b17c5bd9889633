// SPDX-License-Identifier: Apache-2.0
// Colours at single positions of a Bayer mosaic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "halyard/format.h"
#include "halyard/geometry.h"
#include "image/channels.h"

namespace halyard::image {

/// A sample of one or two bytes.
inline int sample_at(const std::byte* at, std::size_t bytes) noexcept {
  if (bytes == 1) return std::to_integer<int>(*at);
  std::uint16_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Demosaics bilinearly: a colour is the mean of its two or four nearest samples. Beyond the
/// image's edges samples are mirrored about the last one, so that the pattern continues.
class Mosaic {
 public:
  /// Formats other than Bayer give meaningless results.
  Mosaic(PixelFormat format, Size size) noexcept : size_(size) {
    red_row_ = format == PixelFormat::bayer_rggb || format == PixelFormat::bayer_grbg ? 0 : 1;
    green_ = format == PixelFormat::bayer_grbg || format == PixelFormat::bayer_gbrg ? 0 : 1;
  }

  /// Colour `c` of R G B at (x, y), in the unit of the samples.
  float at(const SourceChannel& plane, std::size_t bytes, std::size_t c, std::int32_t x,
           std::int32_t y) const noexcept {
    const auto sum = [&](std::int32_t dx, std::int32_t dy) {
      return sample(plane, bytes, x - dx, y - dy) + sample(plane, bytes, x + dx, y + dy);
    };
    const bool is_green = ((x ^ y) & 1) == green_;
    const bool in_own_row = ((y & 1) == red_row_) == (c == 0);  // for red and blue
    if (c == 1 ? is_green : !is_green && in_own_row)
      return static_cast<float>(sample(plane, bytes, x, y));
    if (c == 1) return static_cast<float>(sum(1, 0) + sum(0, 1)) / 4;
    if (is_green) return static_cast<float>(in_own_row ? sum(1, 0) : sum(0, 1)) / 2;
    return static_cast<float>(sum(1, 1) + sum(1, -1)) / 4;
  }

 private:
  static std::int32_t mirrored(std::int32_t i, std::int32_t count) noexcept {
    if (count == 1) return 0;
    if (i < 0) return -i;
    return i < count ? i : 2 * (count - 1) - i;
  }
  int sample(const SourceChannel& plane, std::size_t bytes, std::int32_t x,
             std::int32_t y) const noexcept {
    const auto column = static_cast<std::size_t>(mirrored(x, size_.width));
    return sample_at(plane.row(mirrored(y, size_.height)) + column * bytes, bytes);
  }

  Size size_;
  std::int32_t red_row_;  ///< parity of the rows that have red samples
  std::int32_t green_;    ///< parity of column + row of green samples
};

}  // namespace halyard::image
