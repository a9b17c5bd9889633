// SPDX-License-Identifier: Apache-2.0
// Images for the image tests: random content, odd strides and offsets, guarded padding, samples
// by channel.
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
#include "image/reference/describe.h"
#include "image/reference/reference.h"

namespace halyard::test {

/// Memory for a sampler or a program, aligned to 64 bytes as kernels need it.
class AlignedWorkspace {
 public:
  explicit AlignedWorkspace(std::size_t bytes = 0) : memory_(bytes + 64) {}
  std::byte* data() noexcept {
    const auto beyond = reinterpret_cast<std::uintptr_t>(memory_.data()) % 64;
    return memory_.data() + (beyond == 0 ? 0 : 64 - beyond);
  }

 private:
  std::vector<std::byte> memory_;
};

using Random = std::mt19937;

inline int pick(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

/// Fills a buffer; 16-bit samples have `bits` significant bits (8..16; 0: 16).
inline void fill_random(Random& random, Buffer& buffer, DType dtype, int bits = 0) {
  const Map map = buffer.map(Access::write).value();
  const auto bytes = map.writable_bytes();
  const unsigned high = 0xFFU >> (bits == 0 ? 0 : 16 - bits);
  unsigned four = 0;  // bytes at a time
  for (std::size_t i = 0; i < bytes.size(); ++i, four >>= 8) {
    if (i % 4 == 0) four = static_cast<unsigned>(random());
    bytes[i] = static_cast<std::byte>(four & (dtype == DType::u16 && i % 2 == 1 ? high : 0xFFU));
  }
}

inline Tensor zero_image(std::size_t width, std::size_t height, PixelFormat format,
                         DType dtype = DType::u8) {
  return Tensor::create_image(width, height, format, dtype).value();
}

/// In memory of the CPU also where there are DMA-BUFs.
inline Tensor plain_image(std::size_t width, std::size_t height, PixelFormat format,
                          DType dtype = DType::u8) {
  return Tensor::create_image(width, height, format, dtype, Memory::mem).value();
}

inline Tensor zero_image(Size size, PixelFormat format, DType dtype = DType::u8) {
  return Tensor::create_image(size, format, dtype).value();
}

/// An image in memory that nobody may write.
inline Tensor read_only_image(std::size_t width, std::size_t height, PixelFormat format) {
  static const std::array<std::uint8_t, 4096> zeros{};
  const Tensor::PlaneSource whole{
      wrap_memory(static_cast<const void*>(zeros.data()), zeros.size(), {}).value(), 0, 0};
  return Tensor::wrap_image({&whole, 1}, width, height, format).value();
}

/// A request after `edit`.
template <class Edit>
Convert with(Convert request, const Edit& edit) {
  edit(request);
  return request;
}

/// An image whose rows are `extra` bytes (a multiple of 4) longer than needed, `offset` bytes into
/// its buffer; all bytes are random, also the padding.
inline Tensor random_image(Random& random, int width, int height, PixelFormat format,
                           DType dtype = DType::u8, std::size_t extra = 0, std::size_t offset = 0,
                           int bits = 0) {
  const auto w = static_cast<std::size_t>(width);
  const auto h = static_cast<std::size_t>(height);
  const std::size_t stride = tight_stride(format, dtype, w).value() + (extra + 1) / 2 * 2;
  const std::size_t bytes = image_bytes(format, dtype, w, h, stride).value();
  auto buffer = allocate(bytes + 64 + offset, Memory::mem).value();
  fill_random(random, *buffer, dtype, bits);
  const Tensor::PlaneSource whole{buffer, offset, stride, 0};
  return Tensor::wrap_image({&whole, 1}, w, h, format, dtype).value();
}

/// A u8 image with every plane in its own buffer, each with another pitch and offset; formats of
/// one plane keep one buffer.
inline Tensor random_planes(Random& random, int width, int height, PixelFormat format) {
  const FormatKind kind = info(format).kind;
  if (kind == FormatKind::packed || kind == FormatKind::planar)
    return random_image(random, width, height, format);
  const auto w = static_cast<std::size_t>(width);
  const auto h = static_cast<std::size_t>(height);
  std::vector<Tensor::PlaneSource> planes;
  for (std::size_t p = 0; p < info(format).planes; ++p) {
    const PlaneGeometry g = plane_geometry(format, DType::u8, w, h, 0, p).value();
    const std::size_t stride = (g.row_bytes + 1) / 2 * 2 + 2 + 4 * p;
    auto buffer = allocate(stride * g.rows + 16, Memory::mem).value();
    fill_random(random, *buffer, DType::u8);
    planes.push_back({buffer, p, stride, 0});
  }
  return Tensor::wrap_image(planes, w, h, format).value();
}

/// Every byte of every buffer of an image, with its padding.
inline std::vector<std::byte> bytes_of(const Tensor& tensor) {
  std::vector<std::byte> all;
  const Buffer* last = nullptr;
  for (std::size_t p = 0; p < std::max<std::size_t>(tensor.plane_count(), 1); ++p) {
    const auto buffer = tensor.is_image() ? tensor.image_plane(p).value().buffer : tensor.buffer();
    if (buffer.get() == last) continue;
    last = buffer.get();
    const Map map = buffer->map(Access::read).value();
    all.insert(all.end(), map.bytes().begin(), map.bytes().end());
  }
  return all;
}

/// A copy with its own bytes: same strides, same content. For images in one buffer.
inline Tensor clone(const Tensor& tensor) {
  const std::vector<std::byte> bytes = bytes_of(tensor);
  auto buffer = allocate(bytes.size(), Memory::mem).value();
  {
    const Map map = buffer->map(Access::write).value();
    std::copy(bytes.begin(), bytes.end(), map.writable_bytes().begin());
  }
  const Tensor::PlaneSource whole{buffer, tensor.offset_bytes(), tensor.row_stride_bytes(), 0};
  Tensor out = Tensor::wrap_image({&whole, 1}, tensor.width(), tensor.height(), *tensor.format(),
                                  tensor.dtype())
                   .value();
  out.set_colorimetry(tensor.colorimetry());
  EXPECT_TRUE(out.set_quantization(tensor.quantization()));
  return out;
}

/// Offset within its plane of the sample of channel c (order of the colour model) that covers a
/// pixel.
inline std::size_t sample_offset(const TensorMap& map, const Tensor& tensor, std::size_t c, int x,
                                 int y) {
  const reference::Site site = reference::site_of(*tensor.format(), c);
  const auto element = static_cast<std::size_t>(site.offset + (x >> site.shift_x) * site.step);
  return static_cast<std::size_t>(y >> site.shift_y) *
             map.plane(static_cast<std::size_t>(site.plane)).stride_bytes +
         element * size_of(tensor.dtype());
}
inline std::size_t plane_of(const Tensor& tensor, std::size_t c) {
  return static_cast<std::size_t>(reference::site_of(*tensor.format(), c).plane);
}

inline int code_at(const Tensor& tensor, std::size_t c, int x, int y) {
  const TensorMap map = tensor.map(Access::read).value();
  return std::to_integer<int>(
      map.plane(plane_of(tensor, c)).data[sample_offset(map, tensor, c, x, y)]);
}

inline float float_at(const Tensor& tensor, std::size_t c, int x, int y) {
  const TensorMap map = tensor.map(Access::read).value();
  float value = 0;
  std::memcpy(&value, map.plane(plane_of(tensor, c)).data + sample_offset(map, tensor, c, x, y),
              sizeof value);
  return value;
}

inline void set_code(const Tensor& tensor, std::size_t c, int x, int y, int code) {
  const TensorMap map = tensor.map(Access::read_write).value();
  map.plane(plane_of(tensor, c)).writable[sample_offset(map, tensor, c, x, y)] =
      static_cast<std::byte>(code);
}

/// The greatest difference between two images of one kind, in codes (floats: in 1/255).
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

/// Whether all bytes of the buffers outside of the image are unchanged from `before`.
inline bool padding_untouched(const Tensor& tensor, std::vector<std::byte> before) {
  std::vector<std::byte> after = bytes_of(tensor);
  const Buffer* last = nullptr;
  std::size_t start = 0;
  std::size_t next = 0;
  for (std::size_t p = 0; p < tensor.plane_count(); ++p) {
    const ImagePlane plane = tensor.image_plane(p).value();
    if (plane.buffer.get() != last) {
      last = plane.buffer.get();
      start = next;
      next += last->size_bytes();
    }
    for (std::size_t y = 0; y < plane.rows; ++y) {
      const auto at =
          static_cast<std::ptrdiff_t>(start + plane.offset_bytes + y * plane.stride_bytes);
      std::fill_n(before.begin() + at, plane.row_bytes, std::byte{});
      std::fill_n(after.begin() + at, plane.row_bytes, std::byte{});
    }
  }
  return before == after;
}

inline constexpr Filter all_filters[] = {Filter::nearest, Filter::bilinear, Filter::bicubic,
                                         Filter::lanczos3, Filter::box};

inline constexpr PixelFormat source_formats[] = {
    PixelFormat::nv12, PixelFormat::nv16, PixelFormat::nv24,       PixelFormat::nv21,
    PixelFormat::i420, PixelFormat::yuyv, PixelFormat::vyuy,       PixelFormat::uyvy,
    PixelFormat::yvyu, PixelFormat::rgb,  PixelFormat::bgr,        PixelFormat::rgba,
    PixelFormat::bgra, PixelFormat::grey, PixelFormat::planar_rgb, PixelFormat::planar_rgba};

inline constexpr PixelFormat target_formats[] = {
    PixelFormat::rgb,  PixelFormat::rgba,       PixelFormat::bgra,        PixelFormat::bgr,
    PixelFormat::grey, PixelFormat::planar_rgb, PixelFormat::planar_rgba, PixelFormat::nv12};

}  // namespace halyard::test
