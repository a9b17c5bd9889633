// SPDX-License-Identifier: Apache-2.0
// Tensors made of values, for the tests of this layer.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "halyard/tensor.h"

namespace halyard::test {

template <class T>
Tensor tensor_of(std::span<const std::size_t> shape, const std::vector<T>& values) {
  auto tensor = Tensor::create(*dtype_of<T>, shape, Memory::mem);
  EXPECT_TRUE(tensor) << tensor.error().message();
  auto map = tensor->map(Access::write);
  EXPECT_TRUE(map);
  EXPECT_EQ(tensor->size_bytes(), values.size() * sizeof(T));
  std::memcpy(map->writable(), values.data(), values.size() * sizeof(T));
  return *tensor;
}

template <class T>
Tensor tensor_of(std::initializer_list<std::size_t> shape, const std::vector<T>& values) {
  return tensor_of(std::span<const std::size_t>(shape.begin(), shape.size()), values);
}

template <class T>
Tensor quantized(Tensor tensor, float scale, std::int32_t zero_point) {
  EXPECT_TRUE(tensor.set_quantization(Quantization::per_tensor(scale, zero_point)));
  return tensor;
}

/// A tensor of stored values with one scale and zero point.
template <class T>
Tensor quantized_of(std::span<const std::size_t> shape, const std::vector<T>& values, float scale,
                    std::int32_t zero_point) {
  return quantized<T>(tensor_of(shape, values), scale, zero_point);
}
template <class T>
Tensor quantized_of(std::initializer_list<std::size_t> shape, const std::vector<T>& values,
                    float scale, std::int32_t zero_point) {
  return quantized<T>(tensor_of(shape, values), scale, zero_point);
}

/// All elements have one value.
template <class T>
Tensor filled(const std::vector<std::size_t>& shape, T value = {}) {
  const auto count = std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies());
  return tensor_of(shape, std::vector<T>(count, value));
}

inline Tensor named(Tensor tensor, const char* name) {
  tensor.set_name(name);
  return tensor;
}

/// Runs `check` on each set of vector instructions that this machine has, then lets the best one be
/// chosen again.
template <class Check>
void for_each_target(Check check) {
  const auto targets = hwy::SupportedAndGeneratedTargets();
  ASSERT_FALSE(targets.empty());
  for (const std::int64_t target : targets) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
}

/// [rows, columns] to [columns, rows].
template <class T>
std::vector<T> transposed(const std::vector<T>& values, std::size_t rows, std::size_t columns) {
  std::vector<T> out(values.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c)
      out[c * rows + r] = values[r * columns + c];
  }
  return out;
}

/// Nearest f16, halves to even; values beyond its range become infinite.
inline Half to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  if (std::isnan(value)) return {static_cast<std::uint16_t>(sign | 0x7E00U)};
  const double magnitude = std::abs(static_cast<double>(value));
  if (magnitude >= 65520) return {static_cast<std::uint16_t>(sign | 0x7C00U)};
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, -14);
  const double steps = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  const auto mantissa = static_cast<std::uint32_t>(steps);
  const std::uint32_t biased = mantissa < 1024 ? 0 : static_cast<std::uint32_t>(exponent + 14);
  return {static_cast<std::uint16_t>(sign | (biased * 1024 + mantissa))};
}

/// A head of `anchors` boxes as fractions, [4 + classes, anchors]: noise below 0.05 and one score
/// above 0.3 in each `every`th anchor.
inline std::vector<float> random_head(std::size_t classes, std::size_t anchors, unsigned seed,
                                      std::size_t every = 17) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(0, 1);
  std::vector<float> out((4 + classes) * anchors);
  for (std::size_t a = 0; a < anchors; ++a) {
    out[a] = 0.05F + 0.9F * unit(random);
    out[anchors + a] = 0.05F + 0.9F * unit(random);
    out[2 * anchors + a] = 0.02F + 0.28F * unit(random);
    out[3 * anchors + a] = 0.02F + 0.28F * unit(random);
    for (std::size_t c = 0; c < classes; ++c)
      out[(4 + c) * anchors + a] = 0.05F * unit(random);
    if (a % every == 0) out[(4 + random() % classes) * anchors + a] = 0.3F + 0.65F * unit(random);
  }
  return out;
}

}  // namespace halyard::test
