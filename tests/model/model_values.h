// SPDX-License-Identifier: Apache-2.0
// Tensors of one value, for networks that give what they take, and what all engines must do.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "halyard/model.h"
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

/// A run that another thread cancels ends, as cancelled or whole, and the next one works.
inline void expect_cancellable(Engine& engine) {
  const Tensor input = tensor_of(engine.inputs()[0], 1);
  for (int i = 0; i < 10; ++i) {
    ASSERT_VALUE(auto one, engine.submit({&input, 1}));
    std::thread other([&] { one.cancel(); });
    const auto outputs = one.wait();
    other.join();
    EXPECT_TRUE(outputs || outputs.error().code == Errc::cancelled);
  }
  ASSERT_VALUE(const auto outputs, engine.run(input));
  EXPECT_EQ(value_in(outputs[0]), 1.0F) << "the request works after a cancelled run";
}

}  // namespace halyard::test
