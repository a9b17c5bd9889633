// SPDX-License-Identifier: Apache-2.0
// Tensors of every sort that can be sent, and what must be the same on the other side.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "conformance/buffer_support.h"
#include "halyard/tensor.h"
#include "support/result.h"

namespace halyard {

/// Descriptors and shared mappings; the allocator's own mappings come and go as they like.
inline conformance::Holdings held() {
  conformance::Holdings now = conformance::holdings();
  now.mappings = 0;
  return now;
}

struct SentTensor {
  std::string what;
  Tensor tensor;
};

inline std::shared_ptr<Buffer> shared_buffer(std::size_t size) {
  return *allocate(size, Memory::shm);
}

inline Layout layout_of(DType dtype, std::initializer_list<std::size_t> shape,
                        std::initializer_list<std::ptrdiff_t> stride_bytes) {
  Layout layout{.dtype = dtype, .rank = static_cast<std::uint8_t>(shape.size())};
  std::copy(shape.begin(), shape.end(), layout.shape.begin());
  std::copy(stride_bytes.begin(), stride_bytes.end(), layout.stride_bytes.begin());
  return layout;
}

inline void add_plain_tensors(std::vector<SentTensor>& out) {
  for (int i = 0; i <= static_cast<int>(DType::boolean); ++i) {
    const auto dtype = static_cast<DType>(i);
    out.push_back({std::string(to_string(dtype)), *Tensor::create(dtype, {2, 3, 5}, Memory::shm)});
  }
  out.push_back({"rank 8", *Tensor::create(DType::f32, {1, 2, 1, 3, 1, 2, 1, 4}, Memory::shm)});
  const auto buffer = shared_buffer(4096);
  const auto wrap = [&](const char* what, const Layout& layout, std::size_t offset) {
    out.push_back({what, *Tensor::wrap(buffer, layout, offset)});
  };
  wrap("at an offset", layout_of(DType::u16, {7, 9}, {18, 2}), 1024);
  wrap("every other column", layout_of(DType::f32, {4, 8}, {128, 8}), 64);
  wrap("transposed", layout_of(DType::u8, {8, 16}, {1, 8}), 0);
  wrap("upside down", layout_of(DType::u8, {8, 16}, {-16, 1}), 7 * 16);
  wrap("broadcast", layout_of(DType::i32, {100, 4}, {0, 4}), 8);
  wrap("without elements", layout_of(DType::f64, {3, 0, 2}, {0, 16, 8}), 4096);
}

inline void add_images(std::vector<SentTensor>& out) {
  for (const FormatInfo& f : all_formats()) {
    const auto image = *Tensor::create_image(17, 11, f.format, DType::u8, Memory::shm);
    out.push_back({std::string(f.name), image});
    out.push_back({"slice of " + std::string(f.name), *image.slice({2, 4, 9, 5})});
  }
  out.push_back({"planar f32",
                 *Tensor::create_image(9, 5, PixelFormat::planar_rgb, DType::f32, Memory::shm)});
  const Tensor::PlaneSource nv12[] = {{shared_buffer(64 * 9), 0, 64, 0},
                                      {shared_buffer(4096), 128, 32, 0}};
  out.push_back({"nv12 in two", *Tensor::wrap_image(nv12, 17, 9, PixelFormat::nv12)});
  const Tensor::PlaneSource i420[] = {
      {shared_buffer(32 * 9), 0, 32, 0}, {nv12[1].buffer, 0, 16, 0}, {shared_buffer(80), 0, 16, 0}};
  out.push_back({"i420 in three", *Tensor::wrap_image(i420, 17, 9, PixelFormat::i420)});
  for (const PixelFormat format :
       {PixelFormat::rgb, PixelFormat::nv12, PixelFormat::nv24, PixelFormat::planar_rgba}) {
    const auto batch = *Tensor::create_image_batch(3, 17, 5, format, {.memory = Memory::shm});
    const std::string name(to_string(format));
    out.push_back({"batch of " + name, batch});
    out.push_back({"one of a batch of " + name, *batch.batch(2)});
  }
}

inline void add_described_tensors(std::vector<SentTensor>& out) {
  Tensor tensor = *Tensor::create(DType::i8, {4, 3, 2}, Memory::shm);
  tensor.set_name("output0/conv:0");
  EXPECT_TRUE(tensor.set_quantization(Quantization::per_tensor(0.0078125F, -3)));
  out.push_back({"quantized, named", tensor});
  EXPECT_TRUE(tensor.set_quantization(Quantization{{0.5F, 0.25F, 2}, {1, 0, -128}, 1}));
  out.push_back({"quantized per channel", tensor});
  EXPECT_TRUE(tensor.set_quantization(Quantization{{1, 2, 3, 4}, {}, 0}));
  tensor.set_name({});
  out.push_back({"symmetric per channel", tensor});
  Tensor image = *Tensor::create_image(33, 21, PixelFormat::nv12, DType::u8, Memory::shm);
  image.set_colorimetry(
      {ColorSpace::bt2020, ColorTransfer::hlg, ColorEncoding::bt2020, ColorRange::limited});
  image.buffer()->set_cpu_access(CpuAccess::read);
  out.push_back({"with colours", image});
  image.set_modifier(drm_modifier_invalid);
  out.push_back({"modifier not told", image});
  image.set_orientation({Flip::horizontal, Rotation::cw90});
  out.push_back({"lying on its side", image});
}

inline std::vector<SentTensor> sent_tensors() {
  std::vector<SentTensor> out;
  add_plain_tensors(out);
  add_images(out);
  add_described_tensors(out);
  return out;
}

/// All that a tensor tells of itself.
inline void expect_same(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.dtype(), b.dtype());
  EXPECT_TRUE(std::ranges::equal(a.shape(), b.shape()));
  EXPECT_TRUE(std::equal(a.layout().stride_bytes.begin(),
                         a.layout().stride_bytes.begin() + a.layout().rank,
                         b.layout().stride_bytes.begin()));
  EXPECT_EQ(a.offset_bytes(), b.offset_bytes());
  EXPECT_EQ(a.format(), b.format());
  EXPECT_EQ(a.item_format(), b.item_format());
  EXPECT_EQ(a.width(), b.width());
  EXPECT_EQ(a.height(), b.height());
  EXPECT_EQ(a.colorimetry(), b.colorimetry());
  EXPECT_EQ(a.orientation(), b.orientation());
  EXPECT_EQ(a.modifier(), b.modifier());
  EXPECT_EQ(a.quantization(), b.quantization());
  EXPECT_EQ(a.name(), b.name());
  EXPECT_EQ(a.buffer()->cpu_access(), b.buffer()->cpu_access());
  for (std::size_t i = 0; i < a.plane_count(); ++i) {
    const ImagePlane left = *a.image_plane(i);
    const ImagePlane right = *b.image_plane(i);
    EXPECT_EQ(left.offset_bytes, right.offset_bytes) << "plane " << i;
    EXPECT_EQ(left.stride_bytes, right.stride_bytes) << "plane " << i;
    EXPECT_EQ(left.row_bytes, right.row_bytes) << "plane " << i;
    EXPECT_EQ(left.rows, right.rows) << "plane " << i;
    EXPECT_EQ(left.buffer->identity(), right.buffer->identity()) << "plane " << i;
  }
  EXPECT_EQ(a.buffer()->identity(), b.buffer()->identity());
}

}  // namespace halyard
