// SPDX-License-Identifier: Apache-2.0
// Tensors of one value, for networks that give what they take.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "halyard/tensor.h"
#include "support/result.h"

namespace halyard::test {

inline void put_value(const Tensor& tensor, float value) {
  auto map = tensor.map(Access::write);
  ASSERT_OK(map);
  auto* const data = reinterpret_cast<float*>(map->writable());
  std::fill(data, data + tensor.element_count(), value);
}

inline Tensor tensor_of(const TensorSpec& spec, float value) {
  auto tensor = Tensor::create(spec);
  EXPECT_OK(tensor);
  put_value(*tensor, value);
  return *std::move(tensor);
}

inline float value_in(const Tensor& tensor, std::size_t index = 0) {
  auto map = tensor.map(Access::read);
  EXPECT_OK(map);
  return reinterpret_cast<const float*>(map->data())[index];
}

}  // namespace halyard::test
