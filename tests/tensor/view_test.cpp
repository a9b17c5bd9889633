// SPDX-License-Identifier: Apache-2.0
// Typed views: extents, strides, indices, rows, iteration, and what view() refuses.
#include "halyard/view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <vector>

#include "halyard/tensor.h"
#include "support/product.h"
#include "tensor/tensors.h"

namespace halyard {
namespace {

// Element (i, j, k) of a 2 x 3 x 4 tensor is 12 i + 4 j + k.
Tensor two_by_three_by_four() {
  return test::counting({2, 3, 4});
}

TEST(View, tells_extents_and_strides_in_elements_and_bytes) {
  const auto map = *two_by_three_by_four().map(Access::read);
  const auto view = *map.view<const std::int32_t, 3>();
  static_assert(view.rank() == 3);
  EXPECT_EQ(view.extent(0), 2U);
  EXPECT_EQ(view.extent(2), 4U);
  EXPECT_EQ(view.stride(0), 12);
  EXPECT_EQ(view.stride_bytes(0), 48);
  EXPECT_EQ(view.stride(2), 1);
  EXPECT_EQ(view.size(), 24U);
  EXPECT_FALSE(view.empty());
  EXPECT_EQ(reinterpret_cast<const std::byte*>(view.data_handle()), map.data());
}

TEST(View, finds_an_element_by_arguments_and_by_an_array_of_indices) {
  const auto map = *two_by_three_by_four().map(Access::read_write);
  const auto view = *map.view<std::int32_t, 3>();
  for (const auto& [i, j, k] :
       test::product(test::indices(2), test::indices(3), test::indices(4))) {
    EXPECT_EQ(view(i, j, k), static_cast<std::int32_t>(12 * i + 4 * j + k));
    EXPECT_EQ(&view(i, j, k), &(view[{i, j, k}]));
  }
  view(1, 2, 3) = -1;
  EXPECT_EQ((view[{1, 2, 3}]), -1);
}

TEST(View, gives_rows_down_to_a_span_of_the_last_axis) {
  const auto map = *two_by_three_by_four().map(Access::read);
  const auto view = *map.view<const std::int32_t, 3>();
  const View<const std::int32_t, 2> second = view.row(1);
  EXPECT_EQ(second.extent(0), 3U);
  EXPECT_EQ(second(2, 3), 23);
  const std::span<const std::int32_t> last = second.row(2).span();
  EXPECT_EQ(std::vector(last.begin(), last.end()), (std::vector<std::int32_t>{20, 21, 22, 23}));
}

TEST(View, walks_over_the_outermost_axis) {
  const auto map = *two_by_three_by_four().map(Access::read_write);
  const auto view = *map.view<std::int32_t, 3>();
  static_assert(std::input_iterator<View<std::int32_t, 1>::iterator>);
  static_assert(std::input_iterator<View<std::int32_t, 3>::iterator>);
  std::int32_t sum = 0;
  for (const auto plane : view) {
    for (const auto row : plane) {
      for (std::int32_t& element : row) {
        sum += element;
        element = 0;
      }
    }
  }
  EXPECT_EQ(sum, 23 * 24 / 2);
  EXPECT_EQ(view(1, 2, 3), 0);
}

TEST(View, of_writable_elements_becomes_one_for_reading) {
  const auto map = *two_by_three_by_four().map(Access::read_write);
  const auto view = *map.view<std::int32_t, 3>();
  const View<const std::int32_t, 3> reading = view;
  EXPECT_EQ(reading.data_handle(), view.data_handle());
  EXPECT_EQ(reading(1, 1, 1), 17);
  static_assert(!std::convertible_to<View<const std::int32_t, 3>, View<std::int32_t, 3>>);
  static_assert(!std::convertible_to<View<std::int32_t, 3>, View<const std::uint32_t, 3>>);
}

TEST(View, follows_padded_and_negative_strides) {
  std::array<std::int16_t, 8> memory{0, 1, 2, 3, 4, 5, 6, 7};
  auto* data = reinterpret_cast<std::byte*>(memory.data());
  // Rows of three of four elements, from the last one up and from right to left.
  const View<std::int16_t, 2> view(data + 6 * sizeof(std::int16_t), {2, 3}, {-8, -2});
  EXPECT_EQ(view(0, 0), 6);
  EXPECT_EQ(view(0, 2), 4);
  EXPECT_EQ(view(1, 0), 2);
  EXPECT_EQ(view(1, 2), 0);
  EXPECT_EQ(view.stride(0), -4);
  std::vector<std::int16_t> seen;
  for (const auto row : view)
    std::copy(row.begin(), row.end(), std::back_inserter(seen));
  EXPECT_EQ(seen, (std::vector<std::int16_t>{6, 5, 4, 2, 1, 0}));
}

TEST(View, of_no_elements_is_empty_and_walks_nowhere) {
  const auto tensor = *Tensor::create(DType::f32, {0, 3}, Memory::mem);
  const auto map = *tensor.map(Access::read);
  const auto view = *map.view<const float, 2>();
  EXPECT_TRUE(view.empty());
  EXPECT_TRUE(view.begin() == view.end());
}

#ifndef NDEBUG
TEST(ViewDeathTest, an_index_behind_the_end_stops_a_debug_build) {
  const auto map = *two_by_three_by_four().map(Access::read);
  const auto view = *map.view<const std::int32_t, 3>();
  EXPECT_DEATH((void)view(0, 3, 0), "shape_");
  EXPECT_DEATH((void)view.row(2), "shape_");
}
#endif

}  // namespace
}  // namespace halyard
