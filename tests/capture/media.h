// SPDX-License-Identifier: Apache-2.0
// Images and files for the capture tests: frames that carry their number in large blocks, which
// survive lossy coding.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "halyard/capture.h"
#include "halyard/tensor.h"
#include "support/folder.h"
#include "support/product.h"

namespace halyard::test {

inline void write_bytes(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

/// Luma: eight 16-pixel columns, bright where the bit of `number` is set, over a soft ramp.
/// Chroma: two constants that depend on the number. Width at least 128.
inline Tensor numbered_image(int number, std::size_t width = 128, std::size_t height = 96,
                             PixelFormat format = PixelFormat::i420) {
  Tensor image = *Tensor::create_image(width, height, format, DType::u8, Memory::mem);
  image.set_colorimetry(
      {ColorSpace::bt709, ColorTransfer::bt709, ColorEncoding::bt709, ColorRange::limited});
  const auto map = *image.map(Access::write);
  for (std::size_t i = 0; i < map.plane_count(); ++i) {
    const MappedPlane& plane = map.plane(i);
    for (const auto [y, x] : grid<std::size_t>(plane.rows, plane.row_bytes)) {
      const bool bit = ((static_cast<unsigned>(number) >> ((x / 16) % 8)) & 1U) != 0;
      const std::size_t luma = (bit ? 180 : 60) + y * 30 / plane.rows;
      const bool is_v = format == PixelFormat::nv12 ? x % 2 == 1 : i == 2;
      const std::size_t chroma = is_v ? 150 : 100;
      plane.writable[y * plane.stride_bytes + x] = static_cast<std::byte>(i == 0 ? luma : chroma);
    }
  }
  return image;
}

/// The number that numbered_image() wrote.
inline int number_of(const Tensor& image) {
  const auto map = *image.map(Access::read);
  const MappedPlane& luma = map.plane(0);
  int number = 0;
  for (int bit = 0; bit < 8; ++bit) {
    const auto at = (luma.rows / 2) * luma.stride_bytes + static_cast<std::size_t>(bit) * 16 + 8;
    if (std::to_integer<int>(luma.data[at]) > 135) number |= 1 << bit;
  }
  return number;
}

/// Peak signal to noise ratio over plane `index` in dB, where both have pixels.
inline double psnr(const Tensor& a, const Tensor& b, std::size_t index) {
  const auto map_a = *a.map(Access::read);
  const auto map_b = *b.map(Access::read);
  const MappedPlane& p = map_a.plane(index);
  const MappedPlane& q = map_b.plane(index);
  const std::size_t rows = std::min(p.rows, q.rows);
  const std::size_t columns = std::min(p.row_bytes, q.row_bytes);
  double sum = 0;
  for (const auto [y, x] : grid<std::size_t>(rows, columns)) {
    const int d = std::to_integer<int>(p.data[y * p.stride_bytes + x]) -
                  std::to_integer<int>(q.data[y * q.stride_bytes + x]);
    sum += d * d;
  }
  const double mean = sum / static_cast<double>(rows * columns);
  return mean == 0 ? 100 : 10 * std::log10(255.0 * 255.0 / mean);
}

inline std::vector<std::byte> jpeg_of(int number) {
  Tensor image = numbered_image(number, 128, 96, PixelFormat::nv12);
  image.set_colorimetry(Colorimetry::jpeg());
  return *encode_jpeg(image);
}

}  // namespace halyard::test
