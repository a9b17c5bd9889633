// SPDX-License-Identifier: Apache-2.0
// Copies between strides against a walk over all indices.
#include "halyard/strided_copy.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "support/product.h"
#include "tensor/tensors.h"

namespace halyard::test {
namespace {

// The offset of element i in C order.
std::ptrdiff_t offset_of(const Layout& layout, std::size_t i) {
  std::ptrdiff_t out = 0;
  for (std::size_t k = layout.rank; k-- > 0;) {
    out += static_cast<std::ptrdiff_t>(i % layout.shape[k]) * layout.stride_bytes[k];
    i /= layout.shape[k];
  }
  return out;
}

// Strides of an array whose axes lie in memory in the order `order`, the last one innermost, with
// `gap` elements behind each row; negative where `flips` has the axis's bit.
Layout strided(DType dtype, std::vector<std::size_t> shape, const std::vector<std::size_t>& order,
               std::size_t gap, unsigned flips, std::ptrdiff_t& first, std::size_t& bytes) {
  Layout out = *Layout::contiguous(dtype, shape);
  auto step = static_cast<std::ptrdiff_t>(size_of(dtype));
  first = 0;
  for (std::size_t k = order.size(); k-- > 0;) {
    const std::size_t axis = order[k];
    const auto extent = static_cast<std::ptrdiff_t>(shape[axis]);
    const bool is_flipped = (flips >> axis & 1U) != 0;
    out.stride_bytes[axis] = is_flipped ? -step : step;
    if (is_flipped) first += step * (extent - 1);
    step *= extent + static_cast<std::ptrdiff_t>(k == order.size() - 1 ? gap : 0);
  }
  bytes = static_cast<std::size_t>(step);
  return out;
}

TEST(StridedCopy, copies_every_element_between_any_two_orders) {
  std::mt19937 random(5);
  const std::vector<std::vector<std::size_t>> orders{{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const DType dtype : {DType::u8, DType::u16, DType::f32, DType::f64}) {
    const std::size_t size = size_of(dtype);
    for (const auto& [a, b] : product(orders, orders)) {
      for (unsigned round = 0; round < 4; ++round) {
        const std::vector<std::size_t> shape{1 + random() % 40, 1 + random() % 40,
                                             1 + random() % 5};
        std::ptrdiff_t first_a = 0, first_b = 0;
        std::size_t bytes_a = 0, bytes_b = 0;
        const Layout from = strided(dtype, shape, a, random() % 3, random() % 8, first_a, bytes_a);
        const Layout to = strided(dtype, shape, b, random() % 3, random() % 8, first_b, bytes_b);
        std::vector<std::byte> in(bytes_a), out(bytes_b, std::byte{0xEE});
        for (std::byte& each : in)
          each = static_cast<std::byte>(random());
        std::vector<std::byte> want = out;
        for (std::size_t i = 0; i < from.element_count(); ++i)
          std::memcpy(want.data() + first_b + offset_of(to, i),
                      in.data() + first_a + offset_of(from, i), size);
        copy_elements(from, in.data() + first_a, to, out.data() + first_b);
        ASSERT_EQ(out, want) << to_string(dtype);
      }
    }
  }
}

TEST(StridedCopy, shapes_of_as_many_elements_may_differ) {
  const Layout from = contiguous(DType::u16, {6, 4});
  const std::array<std::array<std::size_t, 2>, 4> shapes{{{3, 8}, {8, 3}, {24, 1}, {2, 12}}};
  std::vector<std::uint16_t> in(24);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<std::uint16_t>(1000 + i);
  for (const auto& shape : shapes) {
    Layout to = *Layout::contiguous(DType::u16, shape);
    to.stride_bytes[0] = static_cast<std::ptrdiff_t>(2 * (shape[1] + 1));  // a gap behind each row
    std::vector<std::uint16_t> out(shape[0] * (shape[1] + 1), 7);
    copy_elements(from, reinterpret_cast<const std::byte*>(in.data()), to,
                  reinterpret_cast<std::byte*>(out.data()));
    for (std::size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i / shape[1] * (shape[1] + 1) + i % shape[1]], in[i]);
    for (std::size_t row = 0; row < shape[0]; ++row)
      EXPECT_EQ(out[row * (shape[1] + 1) + shape[1]], 7);
  }
}

TEST(StridedCopy, arrays_that_share_bytes_are_copied_as_if_the_source_came_first) {
  std::vector<std::byte> memory(64), before(64);
  for (std::size_t i = 0; i < memory.size(); ++i)
    memory[i] = before[i] = static_cast<std::byte>(i);
  const Layout plain = contiguous(DType::u8, {6, 6});
  Layout transposed = plain;
  std::swap(transposed.stride_bytes[0], transposed.stride_bytes[1]);
  ASSERT_TRUE(may_share_bytes(plain, memory.data(), transposed, memory.data() + 4));
  copy_overlapping_elements(plain, memory.data(), transposed, memory.data() + 4);
  for (std::size_t i = 0; i < 36; ++i)
    EXPECT_EQ(memory[4 + i % 6 * 6 + i / 6], before[i]) << i;
  memory = before;
  copy_overlapping_elements(plain, memory.data(), plain, memory.data() + 1);
  for (std::size_t i = 0; i < 36; ++i)
    EXPECT_EQ(memory[1 + i], before[i]) << i;
  EXPECT_FALSE(may_share_bytes(plain, memory.data(), plain, memory.data() + 36));
  EXPECT_TRUE(may_share_bytes(plain, memory.data(), plain, memory.data() + 35));
}

TEST(StridedCopy, arrays_without_elements_and_of_one_are_served) {
  const Layout none = contiguous(DType::f32, {0, 3});
  copy_elements(none, nullptr, none, nullptr);
  const Layout one = contiguous(DType::f64, {1});
  const double in = 2.5;
  double out = 0;
  copy_elements(one, reinterpret_cast<const std::byte*>(&in), one,
                reinterpret_cast<std::byte*>(&out));
  EXPECT_EQ(out, 2.5);
}

}  // namespace
}  // namespace halyard::test
