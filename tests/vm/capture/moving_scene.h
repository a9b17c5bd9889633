// SPDX-License-Identifier: Apache-2.0
// Frames for codecs: a window that moves over a photo; and how much two images differ.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "halyard/codec.h"
#include "halyard/image.h"
#include "halyard/tensor.h"
#include "support/result.h"
#include "support/value_of.h"

namespace halyard::vm {

using test::value_of;

// 1280x720 NV12: a photo of the test data, or waves where that is not there.
inline Tensor make_scene() {
  Tensor scene =
      value_of(Tensor::create_image(1280, 720, PixelFormat::nv12, DType::u8, Memory::mem));
  const char* const folder = std::getenv("HALYARD_TESTDATA_DIR");
  const auto photo = folder == nullptr ? Result<Tensor>(Tensor())
                                       : load_image(std::string(folder) + "/photos/zidane.jpg");
  if (folder != nullptr && photo) {
    auto processor = value_of(Processor::create());
    EXPECT_OK(processor.convert({.src = *photo, .dst = scene, .fit = Fit::stretch}));
    return scene;
  }
  const auto map = value_of(scene.map(Access::write));
  for (std::size_t p = 0; p < map.plane_count(); ++p)
    for (std::size_t row = 0; row < map.plane(p).rows; ++row)
      for (std::size_t x = 0; x < map.plane(p).row_bytes; ++x)
        map.plane(p).writable[row * map.plane(p).stride_bytes + x] =
            static_cast<std::byte>(128 + 60 * std::sin(static_cast<double>(x) / 17) +
                                   40 * std::cos(static_cast<double>(row) / 11));
  return scene;
}

inline const Tensor& scene() {
  static const Tensor made = make_scene();
  return made;
}

// Frame n is a window on the scene, which moves.
inline Tensor window(int n, int width, int height) {
  const int x = width == 1280 ? 0 : 4 * n % (1280 - width) & ~1;
  const int y = height == 720 ? 0 : 2 * n % (720 - height) & ~1;
  return value_of(scene().slice({x, y, width, height}));
}

inline void write_window(int n, const Tensor& image) {
  const Tensor shown = window(n, static_cast<int>(image.width()), static_cast<int>(image.height()));
  const auto from = value_of(shown.map(Access::read));
  const auto to = value_of(image.map(Access::write));
  for (std::size_t p = 0; p < 2; ++p)
    for (std::size_t row = 0; row < from.plane(p).rows; ++row)
      std::memcpy(to.plane(p).writable + row * to.plane(p).stride_bytes,
                  from.plane(p).data + row * from.plane(p).stride_bytes, from.plane(p).row_bytes);
}

// Of both planes, in dB.
inline double psnr(const Tensor& a, const Tensor& b) {
  const auto one = value_of(a.map(Access::read));
  const auto other = value_of(b.map(Access::read));
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t p = 0; p < 2; ++p) {
    for (std::size_t row = 0; row < one.plane(p).rows; ++row) {
      const std::byte* const x = one.plane(p).data + row * one.plane(p).stride_bytes;
      const std::byte* const y = other.plane(p).data + row * other.plane(p).stride_bytes;
      for (std::size_t i = 0; i < one.plane(p).row_bytes; ++i) {
        const int d = static_cast<int>(x[i]) - static_cast<int>(y[i]);
        sum += d * d;
      }
      count += one.plane(p).row_bytes;
    }
  }
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(count) / std::max(sum, 1e-9));
}

}  // namespace halyard::vm
