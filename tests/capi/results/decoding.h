// SPDX-License-Identifier: Apache-2.0
// A small model with masks through the C interface: its outputs, a decoder, what it draws on.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "capi/owned.h"

namespace halyard::test {

inline hal_detect_box box_at(const hal_detect_box_list* list, std::size_t i) {
  hal_detect_box box{};
  EXPECT_DONE(hal_detect_box_list_get(list, i, &box));
  return box;
}
inline hal_detect_box only_box(const hal_detect_box_list* list) {
  EXPECT_EQ(hal_detect_box_list_len(list), 1U) << hal_last_error();
  return box_at(list, 0);
}

/// The index of the output, -1: none.
inline int add_output(hal_decoder_params* params, HalOutputType type,
                      std::initializer_list<std::size_t> shape) {
  return hal_decoder_params_add_output(params, type, HAL_DECODER_TYPE_ULTRALYTICS, shape.begin(),
                                       nullptr, shape.size());
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
    outputs = {head, protos};
    ASSERT_EQ(add_output(params, HAL_OUTPUT_TYPE_DETECTION, {1, 8, 16}), 0);
    ASSERT_EQ(add_output(params, HAL_OUTPUT_TYPE_PROTOS, {1, 8, 8, 2}), 1);
    decoder.reset(hal_decoder_new(params));
    ASSERT_NE(decoder, nullptr) << hal_last_error();
  }
  Owned<hal_proto_data> decode_proto(Boxes& boxes) const {
    return Owned<hal_proto_data>(hal_decoder_decode_proto(decoder, outputs.data(), 2, boxes.out()));
  }
  std::vector<std::uint8_t> pixel(std::size_t x, std::size_t y) {
    const auto bytes = bytes_of(image);
    const auto* const at = bytes.data() + 4 * (40 * y + x);
    return {at, at + 4};
  }

  Tensor head, protos, image = make_image(40, 32, HAL_PIXEL_FORMAT_RGBA);
  std::vector<const hal_tensor*> outputs;
  Owned<hal_decoder_params> params{hal_decoder_params_new()};
  Owned<hal_decoder> decoder;
  Processor processor{hal_image_processor_new()};
};

}  // namespace halyard::test
