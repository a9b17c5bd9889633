// SPDX-License-Identifier: Apache-2.0
// Bytes in the order of the numbers, for every type and any strides.
#include "halyard/byte_levels.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/result.h"

namespace halyard {
namespace {

template <class T>
std::vector<int> levels(const std::vector<T>& numbers) {
  const auto layout = Layout::contiguous(*dtype_of<T>, std::vector{numbers.size()});
  std::vector<std::uint8_t> out(numbers.size());
  EXPECT_TRUE(byte_levels(*layout, reinterpret_cast<const std::byte*>(numbers.data()), out.data()));
  return {out.begin(), out.end()};
}

TEST(ByteLevels, of_integers_are_their_highest_bits_from_the_lowest_value_on) {
  EXPECT_EQ(levels<std::uint8_t>({0, 1, 255}), (std::vector<int>{0, 1, 255}));
  EXPECT_EQ(levels<std::int8_t>({-128, -1, 0, 127}), (std::vector<int>{0, 127, 128, 255}));
  EXPECT_EQ(levels<std::uint16_t>({255, 256, 65535}), (std::vector<int>{0, 1, 255}));
  EXPECT_EQ(levels<std::int16_t>({-32768, -1, 0, 256, 32767}),
            (std::vector<int>{0, 127, 128, 129, 255}));
  EXPECT_EQ(levels<std::uint32_t>({0xFFFFFF, 0x1000000, 0xFFFFFFFF}),
            (std::vector<int>{0, 1, 255}));
  EXPECT_EQ(levels<std::int32_t>({std::numeric_limits<std::int32_t>::min(), -1, 0}),
            (std::vector<int>{0, 127, 128}));
}

TEST(ByteLevels, of_floats_reach_from_the_lowest_to_the_highest) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(levels<float>({-1, 0, 1, infinity, -infinity, nan}),
            (std::vector<int>{0, 128, 255, 255, 0, 0}));
  EXPECT_EQ(levels<double>({2, 4, 3.5}), (std::vector<int>{0, 255, 191}));
  EXPECT_EQ(levels<Half>({Half{0x3C00}, Half{0x4000}, Half{0x3E00}}),
            (std::vector<int>{0, 255, 128}));  // 1, 2, 1.5
  EXPECT_EQ(levels<float>({7, 7}), (std::vector<int>{0, 0}));
  EXPECT_EQ(levels<float>({infinity, nan, -infinity}), (std::vector<int>{0, 0, 0}));
}

TEST(ByteLevels, are_in_C_order_for_any_strides) {
  const std::vector<std::int16_t> numbers{0, 256, 512, 768, 1024, 1280};
  Layout columns = *Layout::contiguous(DType::i16, std::vector<std::size_t>{3, 2});
  columns.stride_bytes = {2, 6};
  std::uint8_t out[6] = {};
  ASSERT_TRUE(byte_levels(columns, reinterpret_cast<const std::byte*>(numbers.data()), out));
  EXPECT_EQ(std::vector<int>(out, out + 6), (std::vector<int>{128, 131, 129, 132, 130, 133}));
}

TEST(ByteLevels, of_other_types_are_refused) {
  for (const DType dtype : {DType::bf16, DType::i64, DType::boolean}) {
    const Tensor tensor = *Tensor::create(dtype, {2}, Memory::mem);
    std::uint8_t out[2];
    EXPECT_FAILS(byte_levels(tensor.layout(), tensor.map(Access::read)->data(), out),
                 Errc::unsupported, to_string(dtype));
  }
}

}  // namespace
}  // namespace halyard
