// SPDX-License-Identifier: Apache-2.0
// Real numbers of whole tensors, against a definition in f64.
#include "halyard/dequantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "support/result.h"

namespace halyard {
namespace {

template <class T>
Tensor tensor_of(const std::vector<T>& values) {
  Tensor tensor = *Tensor::create(*dtype_of<T>, {values.size()}, Memory::mem);
  const auto map = tensor.map(Access::write);
  std::copy(values.begin(), values.end(), map->template flat<T>()->begin());
  return tensor;
}

std::vector<float> numbers(const Tensor& tensor) {
  const auto map = tensor.map(Access::read);
  const auto values = *map->flat<const float>();
  return {values.begin(), values.end()};
}

template <class T>
void expect_exact(std::int32_t zero_point) {
  const std::vector<T> stored{std::numeric_limits<T>::min(), 0, 1, 100,
                              std::numeric_limits<T>::max()};
  const Tensor input = tensor_of(stored);
  Tensor output = *Tensor::create(DType::f32, {stored.size()}, Memory::mem);
  ASSERT_TRUE(dequantize(input, 0.25F, zero_point, output));
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const double exact = (static_cast<double>(stored[i]) - zero_point) * 0.25;
    EXPECT_EQ(numbers(output)[i], static_cast<float>(exact)) << i << ", from " << zero_point;
  }
}

TEST(Dequantize, gives_the_nearest_float_for_every_type_and_zero_point) {
  for (const std::int32_t zero_point : {0, 7, -128, std::numeric_limits<std::int32_t>::min(),
                                        std::numeric_limits<std::int32_t>::max()}) {
    expect_exact<std::uint8_t>(zero_point);
    expect_exact<std::int8_t>(zero_point);
    expect_exact<std::uint16_t>(zero_point);
    expect_exact<std::int16_t>(zero_point);
    expect_exact<std::uint32_t>(zero_point);
    expect_exact<std::int32_t>(zero_point);
  }
}

TEST(Dequantize, refuses_other_types_counts_and_shared_bytes) {
  Tensor three = *Tensor::create(DType::f32, {3}, Memory::mem);
  const auto code = [&](const Tensor& input) { return code_of(dequantize(input, 1, 0, three)); };
  EXPECT_EQ(code(tensor_of<std::int8_t>({1, 2})), Errc::invalid_argument);
  EXPECT_EQ(code(tensor_of<float>({1, 2, 3})), Errc::invalid_argument);
  EXPECT_EQ(code(tensor_of<std::int64_t>({1, 2, 3})), Errc::invalid_argument);
  const Tensor same =
      *Tensor::wrap(three.buffer(), *Layout::contiguous(DType::i32, std::vector<std::size_t>{3}));
  EXPECT_EQ(code(same), Errc::invalid_argument);
  const Tensor wide = *Tensor::create(DType::i16, {3, 2}, Memory::mem);
  const Tensor column = *wide.part(std::vector{AxisRange::all(3), AxisRange::index(0)});
  EXPECT_EQ(code(column), Errc::unsupported);
}

TEST(Dequantized, is_a_copy_in_f32_by_the_tensor_s_own_quantization_else_the_described_one) {
  Tensor stored = tensor_of<std::int32_t>({10, 30});
  stored.set_name("scores");
  EXPECT_EQ(code_of(dequantized(stored)), Errc::invalid_argument);
  const auto described = dequantized(stored, Quantization::per_tensor(0.5F, 10));
  ASSERT_TRUE(described);
  EXPECT_EQ(described->name(), "scores");
  EXPECT_EQ(numbers(*described), (std::vector<float>{0, 10}));
  ASSERT_TRUE(stored.set_quantization(Quantization::per_tensor(2, 0)));
  EXPECT_EQ(numbers(*dequantized(stored, Quantization::per_tensor(0.5F, 10))),
            (std::vector<float>{20, 60}));
  ASSERT_TRUE(stored.set_quantization(Quantization{{1, 2}, {}, 0}));
  EXPECT_EQ(code_of(dequantized(stored)), Errc::unsupported);
  EXPECT_EQ(numbers(*dequantized(tensor_of<double>({0.1, -2}))), (std::vector<float>{0.1F, -2}));
  EXPECT_EQ(code_of(dequantized(tensor_of<float>({1}))), Errc::invalid_argument);
}

}  // namespace
}  // namespace halyard
