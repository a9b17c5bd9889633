// SPDX-License-Identifier: Apache-2.0
// A small model with masks through the C interface: its outputs, a decoder, what it draws on.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "capi/owned.h"

namespace halyard::test {

inline Owned<hal_tensor> tensor_of(std::vector<std::size_t> shape,
                                   const std::vector<float>& values) {
  Owned<hal_tensor> tensor(
      hal_tensor_new(HAL_DTYPE_F32, shape.data(), shape.size(), HAL_TENSOR_MEMORY_MEM, nullptr));
  hal_tensor_map* const map = hal_tensor_map_create(tensor.get());
  std::memcpy(hal_tensor_map_data(map), values.data(), values.size() * sizeof(float));
  hal_tensor_map_unmap(map);
  return tensor;
}

inline std::vector<std::uint8_t> bytes_of(hal_tensor* tensor) {
  hal_tensor_map* const map = hal_tensor_map_create(tensor);
  const auto* const data = static_cast<const std::uint8_t*>(hal_tensor_map_data_const(map));
  std::vector<std::uint8_t> out(data, data + hal_tensor_map_size(map));
  hal_tensor_map_unmap(map);
  return out;
}

/// Two boxes of two classes, with two coefficients, in 16 columns; prototypes of 8 x 8.
class c_decoder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<float> values(8 * 16, 0.0F);
    const float boxes[2][8] = {{.5F, .5F, .5F, .5F, .9F, 0, 3, 0},
                               {.2F, .3F, .2F, .2F, 0, .8F, 0, -3}};
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t r = 0; r < 8; ++r)
        values[r * 16 + i] = boxes[i][r];
    head = tensor_of({1, 8, 16}, values);
    values.clear();
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 8; ++x) {
        values.push_back(static_cast<float>(x) - 3.5F);
        values.push_back(static_cast<float>(y) - 2.2F);
      }
    protos = tensor_of({1, 8, 8, 2}, values);
    outputs = {head.get(), protos.get()};
    params.reset(hal_decoder_params_new());
    const std::size_t shape[3] = {1, 8, 16}, proto_shape[4] = {1, 8, 8, 2};
    ASSERT_EQ(hal_decoder_params_add_output(params.get(), HAL_OUTPUT_TYPE_DETECTION,
                                            HAL_DECODER_TYPE_ULTRALYTICS, shape, nullptr, 3),
              0);
    ASSERT_EQ(hal_decoder_params_add_output(params.get(), HAL_OUTPUT_TYPE_PROTOS,
                                            HAL_DECODER_TYPE_ULTRALYTICS, proto_shape, nullptr, 4),
              1);
    decoder.reset(hal_decoder_new(params.get()));
    ASSERT_NE(decoder, nullptr) << hal_last_error();
    processor.reset(hal_image_processor_new());
    image.reset(
        hal_tensor_new_image(40, 32, HAL_PIXEL_FORMAT_RGBA, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM));
  }
  std::vector<std::uint8_t> pixel(std::size_t x, std::size_t y) {
    const auto bytes = bytes_of(image.get());
    const std::size_t at = 4 * (40 * y + x);
    return {bytes.begin() + static_cast<std::ptrdiff_t>(at),
            bytes.begin() + static_cast<std::ptrdiff_t>(at) + 4};
  }

  Owned<hal_tensor> head, protos, image;
  std::vector<const hal_tensor*> outputs;
  Owned<hal_decoder_params> params;
  Owned<hal_decoder> decoder;
  Owned<hal_image_processor> processor;
};

}  // namespace halyard::test
