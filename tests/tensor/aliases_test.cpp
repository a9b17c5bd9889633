// SPDX-License-Identifier: Apache-2.0
// Which tensors share bytes, against sets of bytes.
#include <gtest/gtest.h>

#include <random>

#include "halyard/import.h"
#include "tensor/byte_sets.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::image_of;
using test::share_bytes;

TEST(Aliases, agrees_with_sets_of_bytes_for_all_parts_of_a_picture) {
  std::mt19937 random(99);
  const auto even = [&random](int n) { return static_cast<int>(random() % n) & ~1; };
  for (const FormatInfo& f : all_formats()) {
    const Tensor image = image_of(22, 12, f.format);
    int shared = 0;
    for (int round = 0; round < 300; ++round) {
      const auto part = [&] {
        return *image.slice({even(16), even(8), 1 + static_cast<int>(random() % 6),
                             1 + static_cast<int>(random() % 4)});
      };
      const Tensor a = part();
      const Tensor b = part();
      ASSERT_EQ(aliases(a, b), share_bytes(a, b))
          << f.name << " at " << a.offset_bytes() << " and " << b.offset_bytes();
      shared += aliases(a, b) ? 1 : 0;
    }
    EXPECT_GT(shared, 10) << f.name;
    EXPECT_LT(shared, 290) << f.name;
  }
}

TEST(Aliases, halves_and_planes_are_apart) {
  const Tensor rgb = image_of(20, 10, F::rgb);
  EXPECT_FALSE(aliases(*rgb.slice({0, 0, 10, 10}), *rgb.slice({10, 0, 10, 10})));
  EXPECT_FALSE(aliases(*rgb.slice({0, 0, 20, 5}), *rgb.slice({0, 5, 20, 5})));
  EXPECT_TRUE(aliases(*rgb.slice({0, 0, 11, 10}), *rgb.slice({10, 0, 10, 10})));
  const Tensor nv12 = image_of(20, 10, F::nv12);
  const auto chroma = *nv12.image_plane(1);
  const auto luma = *nv12.image_plane(0);
  const Tensor::PlaneSource luma_only{luma.buffer, luma.offset_bytes, luma.stride_bytes};
  const Tensor::PlaneSource chroma_only{chroma.buffer, chroma.offset_bytes, chroma.stride_bytes};
  const Tensor grey = *Tensor::wrap_image({&luma_only, 1}, 20, 10, F::grey);
  const Tensor colours = *Tensor::wrap_image({&chroma_only, 1}, 20, 5, F::grey);
  EXPECT_FALSE(aliases(grey, colours));
  EXPECT_TRUE(aliases(nv12, grey));
  EXPECT_TRUE(aliases(nv12, colours));
}

TEST(Aliases, sees_one_kernel_object_behind_two_buffers) {
  if (!memory_available(Memory::shm)) GTEST_SKIP() << "no shared memory on this machine";
  const auto first = *allocate(4096, Memory::shm);
  const Fd duplicate = *first->clone_fd();
  // Two importers, so that two buffers stand over the one object.
  Importer one;
  Importer other;
  const auto a = one.import_buffer(duplicate.get());
  const auto b = other.import_buffer(duplicate.get());
  ASSERT_TRUE(a) << a.error().message();
  ASSERT_TRUE(b) << b.error().message();
  ASSERT_NE(*a, *b);
  const std::array<std::size_t, 1> shape{100};
  const Layout layout = *Layout::contiguous(DType::u8, shape);
  EXPECT_TRUE(aliases(*Tensor::wrap(*a, layout), *Tensor::wrap(*b, layout, 99)));
  EXPECT_FALSE(aliases(*Tensor::wrap(*a, layout), *Tensor::wrap(*b, layout, 100)));
  const auto elsewhere = *allocate(4096, Memory::shm);
  EXPECT_FALSE(aliases(*Tensor::wrap(*a, layout), *Tensor::wrap(elsewhere, layout)));
}

TEST(Aliases, empty_tensors_share_nothing) {
  const Tensor t = *Tensor::create(DType::u8, {4}, Memory::mem);
  EXPECT_FALSE(aliases(Tensor(), t));
  EXPECT_FALSE(aliases(Tensor(), Tensor()));
  const std::array<std::size_t, 2> none{0, 4};
  EXPECT_FALSE(aliases(t, *Tensor::wrap(t.buffer(), *Layout::contiguous(DType::u8, none))));
}

}  // namespace
}  // namespace halyard
