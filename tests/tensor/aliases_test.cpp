// SPDX-License-Identifier: Apache-2.0
// Which tensors share bytes, against sets of bytes.
#include <gtest/gtest.h>

#include <random>

#include "halyard/import.h"
#include "support/product.h"
#include "support/result.h"
#include "tensor/byte_sets.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::contiguous;
using test::image_of;
using test::share_bytes;

TEST(Aliases, agrees_with_sets_of_bytes_for_all_parts_of_an_image) {
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
  ASSERT_OK(a);
  ASSERT_OK(b);
  ASSERT_NE(*a, *b);
  const Layout layout = contiguous(DType::u8, {100});
  EXPECT_TRUE(aliases(*Tensor::wrap(*a, layout), *Tensor::wrap(*b, layout, 99)));
  EXPECT_FALSE(aliases(*Tensor::wrap(*a, layout), *Tensor::wrap(*b, layout, 100)));
  const auto elsewhere = *allocate(4096, Memory::shm);
  EXPECT_FALSE(aliases(*Tensor::wrap(*a, layout), *Tensor::wrap(elsewhere, layout)));
}

// An image over memory of the test's, in a buffer of its own each time.
Tensor over(std::vector<std::uint8_t>& memory, std::size_t offset, std::size_t stride,
            std::size_t width, std::size_t height) {
  const auto buffer = *wrap_memory(memory.data() + offset, memory.size() - offset, [] {});
  const Tensor::PlaneSource rows{buffer, 0, stride};
  return *Tensor::wrap_image({&rows, 1}, width, height, F::grey);
}

TEST(Aliases, sees_one_memory_behind_two_buffers) {
  std::vector<std::uint8_t> memory(100 * 40);
  EXPECT_TRUE(aliases(over(memory, 0, 100, 100, 40), over(memory, 0, 100, 100, 40)));
  EXPECT_TRUE(aliases(over(memory, 0, 100, 51, 40), over(memory, 50, 100, 50, 39)));
  EXPECT_FALSE(aliases(over(memory, 0, 100, 50, 40), over(memory, 50, 100, 50, 39)));
  EXPECT_FALSE(aliases(over(memory, 0, 200, 100, 20), over(memory, 100, 200, 100, 19)));
  EXPECT_FALSE(aliases(over(memory, 0, 100, 100, 10), over(memory, 1000, 100, 100, 10)));
  std::vector<std::uint8_t> other(100 * 40);
  EXPECT_FALSE(aliases(over(memory, 0, 100, 100, 40), over(other, 0, 100, 100, 40)));
}

TEST(Aliases, sees_memory_of_its_own_that_somebody_has_wrapped) {
  for (const Memory kind : {Memory::mem, Memory::shm, Memory::dma}) {
    if (!memory_available(kind)) continue;
    const Tensor image = *Tensor::create_image(64, 8, F::grey, DType::u8, kind);
    const auto map = *image.map(Access::read_write);
    const auto wrapped = *wrap_memory(static_cast<void*>(map.writable()), 512, [] {});
    const Tensor::PlaneSource rows{wrapped, 0, 64};
    EXPECT_TRUE(aliases(image, *Tensor::wrap_image({&rows, 1}, 64, 8, F::grey))) << to_string(kind);
    const Tensor::PlaneSource below{wrapped, 256, 64};
    const Tensor lower = *Tensor::wrap_image({&below, 1}, 64, 4, F::grey);
    EXPECT_TRUE(aliases(image, lower));
    EXPECT_FALSE(aliases(*image.slice({0, 0, 64, 4}), lower));
  }
}

// Elements of [4, 6, 5] taken by random steps, against sets of bytes.
TEST(Aliases, of_strided_parts_never_misses_a_shared_byte_and_tells_rows_apart) {
  std::mt19937 random(5);
  const Tensor t = *Tensor::create(DType::u8, {4, 6, 5}, Memory::mem);
  const auto some_part = [&] {
    std::array<AxisRange, 3> ranges;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::size_t start = random() % t.shape()[axis];
      const std::size_t step = 1 + random() % 2;
      const std::size_t room = (t.shape()[axis] - 1 - start) / step + 1;
      ranges[axis] = {start, 1 + random() % room, static_cast<std::ptrdiff_t>(step), true};
    }
    return *t.part(ranges);
  };
  const auto bytes_of_part = [](const Tensor& part) {
    std::set<std::size_t> bytes;
    const Layout& l = part.layout();
    for (const auto [i, j] : test::grid<std::size_t>(l.shape[0], l.shape[1])) {
      for (std::size_t k = 0; k < l.shape[2]; ++k)
        bytes.insert(part.offset_bytes() + i * static_cast<std::size_t>(l.stride_bytes[0]) +
                     j * static_cast<std::size_t>(l.stride_bytes[1]) +
                     k * static_cast<std::size_t>(l.stride_bytes[2]));
    }
    return bytes;
  };
  int apart = 0;
  for (int round = 0; round < 2000; ++round) {
    const Tensor a = some_part();
    const Tensor b = some_part();
    const auto mine = bytes_of_part(a);
    bool shares = false;
    for (const std::size_t byte : bytes_of_part(b))
      shares = shares || mine.count(byte) != 0;
    ASSERT_TRUE(aliases(a, b) || !shares) << "round " << round;
    apart += aliases(a, b) ? 0 : 1;
  }
  EXPECT_GT(apart, 200);
  const AxisRange rows[] = {{0, 2, 2, true}};
  const AxisRange others[] = {{1, 2, 2, true}};
  EXPECT_FALSE(aliases(*t.part(rows), *t.part(others)));
  const AxisRange left[] = {AxisRange::all(4), AxisRange::all(6), {0, 3, 1, true}};
  const AxisRange right[] = {AxisRange::all(4), AxisRange::all(6), {3, 2, 1, true}};
  EXPECT_FALSE(aliases(*t.part(left), *t.part(right)));
}

TEST(Aliases, empty_tensors_share_nothing) {
  const Tensor t = *Tensor::create(DType::u8, {4}, Memory::mem);
  EXPECT_FALSE(aliases(Tensor(), t));
  EXPECT_FALSE(aliases(Tensor(), Tensor()));
  EXPECT_FALSE(aliases(t, *Tensor::wrap(t.buffer(), contiguous(DType::u8, {0, 4}))));
}

}  // namespace
}  // namespace halyard
