// SPDX-License-Identifier: Apache-2.0
// Tensors: layouts, views, batches, reshaping, wrapping, copying.
#include "halyard/tensor.h"
#include "support/result.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/copy_count.h"
#include "support/product.h"
#include "tensor/tensors.h"

namespace halyard {
namespace {

using test::contiguous;
using test::counting;

TEST(Layout, is_contiguous_until_it_is_not) {
  Layout layout = contiguous(DType::f32, {2, 3, 4});
  EXPECT_EQ(layout.stride_bytes[0], 48);
  EXPECT_EQ(layout.stride_bytes[2], 4);
  EXPECT_TRUE(layout.is_contiguous());
  layout.stride_bytes[0] = 64;
  EXPECT_FALSE(layout.is_contiguous());
}

TEST(Layout, refuses_ranks_and_sizes_beyond_the_limits) {
  const std::vector<std::size_t> nine(9, 1);
  EXPECT_FAILS(Layout::contiguous(DType::u8, nine), Errc::invalid_argument);
  EXPECT_FAILS(Layout::contiguous(DType::u8, {}), Errc::invalid_argument);
  const std::vector<std::size_t> huge{std::size_t{1} << 40, std::size_t{1} << 30};
  EXPECT_FAILS(Layout::contiguous(DType::u8, huge), Errc::invalid_argument);
}

TEST(Tensor, is_a_value_whose_copies_share_bytes) {
  const Tensor a = counting({2, 3});
  const Tensor b = a;  // NOLINT: the copy is what is tested
  (*(*b.map(Access::write)).view<std::int32_t, 2>())(1, 2) = 99;
  EXPECT_EQ((*(*a.map(Access::read)).view<const std::int32_t, 2>())(1, 2), 99);
  EXPECT_EQ(a.buffer()->id(), b.buffer()->id());
}

TEST(Tensor, zero_extents_are_legal_on_the_heap) {
  ASSERT_VALUE(const auto t, Tensor::create(DType::f32, {0, 4}, Memory::mem));
  EXPECT_EQ(t.element_count(), 0U);
  EXPECT_TRUE(t.map(Access::read));
}

TEST(TensorMap, view_checks_type_rank_and_access) {
  const Tensor t = counting({2, 3});
  const TensorMap map = *t.map(Access::read);
  EXPECT_TRUE((map.view<const std::int32_t, 2>()));
  EXPECT_FAILS(map.view<const float, 2>(), Errc::invalid_argument);
  EXPECT_FAILS(map.view<const std::int32_t, 3>(), Errc::invalid_argument);
  EXPECT_FAILS(map.view<std::int32_t, 2>(), Errc::permission);
  EXPECT_EQ(map.writable(), nullptr);
}

TEST(TensorMap, outlives_the_tensor) {
  auto t = std::make_unique<Tensor>(counting({4}));
  const TensorMap map = *t->map(Access::read);
  t.reset();
  EXPECT_EQ((*map.flat<const std::int32_t>())[3], 3);
}

TEST(TensorMap, an_empty_tensor_cannot_be_mapped) {
  EXPECT_FAILS(Tensor().map(Access::read), Errc::invalid_argument);
}

TEST(Tensor, batch_gives_one_element_of_the_outermost_axis) {
  const Tensor t = counting({3, 2, 2});
  const Tensor second = *t.batch(1);
  EXPECT_EQ(second.rank(), 2U);
  EXPECT_EQ((*(*second.map(Access::read)).view<const std::int32_t, 2>())(1, 1), 7);
  EXPECT_FAILS(t.batch(3), Errc::invalid_argument);
  EXPECT_FAILS(counting({3}).batch(0), Errc::invalid_argument);
}

TEST(Tensor, batch_carries_quantization_to_the_element) {
  Tensor t = *Tensor::create(DType::i8, {2, 3}, Memory::mem);
  ASSERT_TRUE(t.set_quantization(Quantization{{0.1F, 0.2F, 0.3F}, {}, 1}));
  EXPECT_EQ(t.batch(1)->quantization()->axis, 0U);
  ASSERT_TRUE(t.set_quantization(Quantization{{0.1F, 0.2F}, {1, 2}, 0}));
  EXPECT_EQ(*t.batch(1)->quantization(), Quantization::per_tensor(0.2F, 2));
}

TEST(Tensor, reshape_keeps_elements_and_refuses_another_count) {
  const Tensor t = counting({2, 6});
  const Tensor r = *t.reshape({3, 4});
  EXPECT_EQ((*(*r.map(Access::read)).view<const std::int32_t, 2>())(2, 3), 11);
  EXPECT_FAILS(t.reshape({5}), Errc::invalid_argument);
}

TEST(Tensor, wrap_checks_that_every_element_lies_inside_the_buffer) {
  auto buffer = *allocate(100, Memory::mem);
  Layout layout = contiguous(DType::i32, {5, 5});
  EXPECT_TRUE(Tensor::wrap(buffer, layout));
  EXPECT_FAILS(Tensor::wrap(buffer, layout, 4), Errc::invalid_argument);
  layout.stride_bytes[0] = 21;
  EXPECT_FAILS(Tensor::wrap(buffer, layout), Errc::invalid_argument);
  layout.stride_bytes[0] = -20;
  EXPECT_FAILS(Tensor::wrap(buffer, layout, 76), Errc::invalid_argument);
  EXPECT_TRUE(Tensor::wrap(buffer, layout, 80)) << "rows that run upwards fit when they start low";
  layout.stride_bytes[0] = std::numeric_limits<std::ptrdiff_t>::max() / 2;
  EXPECT_FAILS(Tensor::wrap(buffer, layout), Errc::invalid_argument);
  EXPECT_FAILS(Tensor::wrap(nullptr, layout), Errc::invalid_argument);
}

TEST(Tensor, wrap_refuses_offsets_between_elements) {
  const Layout layout = contiguous(DType::f32, {2});
  EXPECT_FAILS(Tensor::wrap(*allocate(64, Memory::mem), layout, 2), Errc::invalid_argument);
}

TEST(Tensor, create_follows_a_specification) {
  const TensorSpec spec{
      "images", DType::i8, {1, 8, 8, 3}, Quantization::per_tensor(0.5F, -128), PixelFormat::rgb};
  const Tensor t = *Tensor::create(spec, Memory::mem);
  EXPECT_EQ(t.name(), "images");
  EXPECT_EQ(t.rank(), 4U);
  EXPECT_EQ(*t.quantization(), *spec.quantization);
  EXPECT_EQ(t.as_image()->format(), PixelFormat::rgb);
  const TensorSpec wrong{"images", DType::i8, {1, 8, 8, 2}, {}, PixelFormat::rgb};
  EXPECT_FAILS(Tensor::create(wrong), Errc::invalid_argument);
}

TEST(Copy, moves_elements_between_different_strides_and_counts) {
  const Tensor source = counting({4, 3, 2});
  auto buffer = *allocate(4096, Memory::mem);
  Layout layout = source.layout();
  layout.stride_bytes = {256, 16, 4};
  Tensor destination = *Tensor::wrap(buffer, layout, 64);
  const CopyStats before = copy_stats();
  ASSERT_TRUE(copy(source, destination));
  const TensorMap map = *destination.map(Access::read);
  const auto view = *map.view<const std::int32_t, 3>();
  for (const auto& [i, j, k] : test::product(test::indices(4), test::indices(3), test::indices(2)))
    EXPECT_EQ(view(i, j, k), static_cast<int>(i * 6 + j * 2 + k));
  EXPECT_EQ(copy_stats().copies, before.copies + 1);
  EXPECT_EQ(copy_stats().bytes, before.bytes + 96);
}

TEST(Copy, refuses_other_shapes_dtypes_and_itself) {
  Tensor a = counting({4});
  Tensor b = counting({5});
  Tensor c = *Tensor::create(DType::f32, {4}, Memory::mem);
  EXPECT_FAILS(copy(a, b), Errc::invalid_argument);
  EXPECT_FAILS(copy(a, c), Errc::invalid_argument);
  EXPECT_FAILS(copy(a, a), Errc::invalid_argument);
}

TEST(MayAlias, tells_apart_halves_of_one_buffer) {
  const Tensor t = counting({2, 8});
  EXPECT_TRUE(aliases(t, *t.batch(0)));
  EXPECT_FALSE(aliases(*t.batch(0), *t.batch(1)));
  EXPECT_FALSE(aliases(t, counting({2, 8})));
}

}  // namespace
}  // namespace halyard
