// SPDX-License-Identifier: Apache-2.0
// What images may be asked for: strides, compression, memory, labels.
#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "halyard/tensor.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;

ImageOptions on_heap() {
  return {.memory = Memory::mem};
}

ImageOptions with_stride(std::size_t stride_bytes, DType dtype = DType::u8) {
  ImageOptions options = on_heap();
  options.stride_bytes = stride_bytes;
  options.dtype = dtype;
  return options;
}

TEST(ImageStride, that_is_asked_for_is_given) {
  for (const FormatInfo& f : all_formats()) {
    const std::size_t tight = *tight_stride(f.format, DType::u8, 21);
    for (const std::size_t stride : {tight, tight + 2, std::size_t{1000}}) {
      if (f.kind == FormatKind::tri_planar && stride % 2 != 0) continue;
      const auto image = Tensor::create_image(21, 5, f.format, with_stride(stride));
      ASSERT_TRUE(image) << f.name << ": " << image.error().message();
      EXPECT_EQ(image->row_stride_bytes(), stride) << f.name;
      EXPECT_EQ(image->buffer()->size_bytes(), *image_bytes(f.format, DType::u8, 21, 5, stride));
      EXPECT_TRUE(image->map(Access::write)) << f.name;
    }
  }
}

TEST(ImageStride, below_the_tight_one_is_refused) {
  for (const FormatInfo& f : all_formats()) {
    const std::size_t tight = *tight_stride(f.format, DType::u16, 21);
    const auto image = Tensor::create_image(21, 5, f.format, with_stride(tight - 2, DType::u16));
    EXPECT_FAILS(image, Errc::invalid_argument, "stride") << f.name;
    EXPECT_FAILS(image, std::to_string(tight));
  }
}

TEST(ImageStride, between_elements_is_refused) {
  EXPECT_FAILS(Tensor::create_image(4, 4, F::grey, with_stride(9, DType::u16)),
               Errc::invalid_argument);
  EXPECT_FAILS(Tensor::create_image(4, 4, F::rgb, with_stride(50, DType::f32)),
               Errc::invalid_argument);
  EXPECT_OK(Tensor::create_image(4, 4, F::rgb, with_stride(52, DType::f32)));
  EXPECT_FAILS(Tensor::create_image(4, 4, F::i420, with_stride(9)), Errc::invalid_argument)
      << "the chroma planes of I420 have half of it";
}

TEST(ImageStride, whose_image_has_no_size_is_refused) {
  for (const std::size_t stride : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 3}) {
    for (const F format : {F::grey, F::nv12, F::planar_rgb, F::i420})
      EXPECT_FAILS(Tensor::create_image(4, 4, format, with_stride(stride & ~std::size_t{63})),
                   Errc::invalid_argument);
  }
}

TEST(ImageStride, that_no_memory_holds_is_an_error) {
  if (!memory_available(Memory::shm)) GTEST_SKIP() << "no shared memory on this machine";
  ImageOptions options;
  options.memory = Memory::shm;  // sanitizers take such a size for a bug when the heap is asked
  for (const std::size_t stride : {std::size_t{1} << 50, std::size_t{1} << 58}) {
    options.stride_bytes = stride;
    EXPECT_FAILS(Tensor::create_image(4, 4, F::nv12, options), Errc::no_memory);
  }
}

TEST(ImageOptionsTest, memory_type_and_access_reach_the_buffer) {
  ImageOptions options = on_heap();
  options.dtype = DType::f16;
  options.cpu_access = CpuAccess::write;
  const Tensor image = *Tensor::create_image(8, 4, F::rgba, options);
  EXPECT_EQ(image.memory(), Memory::mem);
  EXPECT_EQ(image.dtype(), DType::f16);
  EXPECT_EQ(image.row_stride_bytes(), 64U);
  EXPECT_EQ(image.buffer()->cpu_access(), CpuAccess::write);
  const Tensor batch = *Tensor::create_image_batch(2, 8, 4, F::rgba, options);
  EXPECT_EQ(batch.buffer()->cpu_access(), CpuAccess::write);
  EXPECT_EQ(batch.dtype(), DType::f16);
  options.memory = Memory::pbo;
  EXPECT_FAILS(Tensor::create_image(8, 4, F::rgba, options), Errc::unsupported);
}

TEST(ImageOptionsTest, the_label_is_shown_by_the_kernel) {
  if (!memory_available(Memory::shm)) GTEST_SKIP() << "no shared memory on this machine";
  const Tensor image =
      *Tensor::create_image(8, 4, F::rgb, {.memory = Memory::shm, .label = "front camera"});
  const std::string link = "/proc/self/fd/" + std::to_string(image.buffer()->fd());
  std::array<char, PATH_MAX> target{};
  ASSERT_GT(::readlink(link.c_str(), target.data(), target.size() - 1), 0);
  const std::string_view shown = target.data();
  if (!shown.starts_with("/memfd:")) GTEST_SKIP() << "a kernel without memfd: " << shown;
  EXPECT_NE(shown.find("front camera"), std::string_view::npos) << shown;
}

TEST(ImageCompression, needs_the_cpu_to_keep_out) {
  for (const auto& [scheme, access] :
       test::product({Compression::any, Compression::ubwc, Compression::afbc, Compression::pvric,
                      Compression::dcc},
                     {CpuAccess::read, CpuAccess::write, CpuAccess::read_write})) {
    ImageOptions options = on_heap();
    options.compression = scheme;
    options.cpu_access = access;
    EXPECT_FAILS(Tensor::create_image(8, 4, F::rgba, options), Errc::invalid_argument,
                 "compression")
        << to_string(scheme);
  }
}

TEST(ImageCompression, by_name_is_unsupported_and_any_becomes_linear) {
  ImageOptions options = on_heap();
  options.cpu_access = CpuAccess::none;
  for (const Compression scheme :
       {Compression::ubwc, Compression::afbc, Compression::pvric, Compression::dcc}) {
    options.compression = scheme;
    EXPECT_FAILS(Tensor::create_image(8, 4, F::rgba, options), Errc::unsupported,
                 to_string(scheme));
  }
  options.compression = Compression::any;
  const std::uint64_t before = compression_fallbacks();
  ASSERT_VALUE(const auto image, Tensor::create_image(8, 4, F::rgba, options));
  EXPECT_TRUE(is_linear(image.modifier()));
  EXPECT_EQ(compression_of(image.modifier()), Compression::none);
  EXPECT_EQ(compression_fallbacks(), before + 1);
  EXPECT_TRUE(Tensor::create_image_batch(3, 8, 4, F::rgba, options));
  EXPECT_EQ(compression_fallbacks(), before + 2);
}

TEST(ImageCompression, what_is_refused_for_another_reason_is_no_fallback) {
  ImageOptions options = on_heap();
  options.cpu_access = CpuAccess::none;
  options.compression = Compression::any;
  const std::uint64_t before = compression_fallbacks();
  EXPECT_FALSE(Tensor::create_image(0, 4, F::rgba, options));
  options.stride_bytes = 1;
  EXPECT_FALSE(Tensor::create_image(8, 4, F::rgba, options));
  EXPECT_FALSE(Tensor::create_image_batch(0, 8, 4, F::rgba, options));
  EXPECT_EQ(compression_fallbacks(), before);
}

}  // namespace
}  // namespace halyard
