// SPDX-License-Identifier: Apache-2.0
// Small heads whose results are known in closed form.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "decode/tensors.h"
#include "halyard/compat/compat.h"

namespace halyard::test {

/// One candidate: cx, cy, w, h, then scores and coefficients.
using Column = std::vector<float>;

/// [1, features, boxes], the first columns as given, the rest 0.
inline std::vector<float> head_values(const std::vector<Column>& columns, std::size_t features,
                                      std::size_t boxes) {
  std::vector<float> out(features * boxes, 0.0F);
  for (std::size_t i = 0; i < columns.size(); ++i)
    for (std::size_t r = 0; r < columns[i].size(); ++r)
      out[r * boxes + i] = columns[i][r];
  return out;
}

inline Tensor head_of(const std::vector<Column>& columns, std::size_t features, std::size_t boxes) {
  return tensor_of<float>({1, features, boxes}, head_values(columns, features, boxes));
}

constexpr std::size_t mask_boxes = 16;
constexpr std::size_t mask_side = 8;

/// Three boxes of two classes with two coefficients each, in fractions.
inline Tensor mask_head(float scale = 1) {
  std::vector<Column> columns{{.5F, .5F, .35F, .45F, .9F, 0, 3, 0},
                              {.2F, .3F, .15F, .2F, 0, .8F, 0, -3},
                              {.95F, .95F, .2F, .2F, .7F, 0, 1, 1}};
  for (Column& column : columns)
    for (std::size_t i = 0; i < 4; ++i)
      column[i] *= scale;
  return head_of(columns, 8, mask_boxes);
}

/// Prototype 0 grows to the right, 1 downwards.
inline Tensor mask_prototypes() {
  std::vector<float> values;
  for (std::size_t y = 0; y < mask_side; ++y)
    for (std::size_t x = 0; x < mask_side; ++x) {
      values.push_back(static_cast<float>(x) - 3.5F);
      values.push_back(static_cast<float>(y) - 2.2F);
    }
  return tensor_of<float>({1, mask_side, mask_side, 2}, values);
}

inline std::vector<compat::Output> mask_outputs(std::optional<bool> normalized = {}) {
  std::vector<compat::Output> out(2);
  out[0].shape = {1, 8, mask_boxes};
  out[0].normalized = normalized;
  out[1].kind = compat::OutputKind::protos;
  out[1].shape = {1, mask_side, mask_side, 2};
  return out;
}

inline compat::Decoder decoder_of(const std::vector<compat::Output>& outputs,
                                  const compat::DecoderOptions& options = {}) {
  auto made = compat::Decoder::from_outputs(outputs, std::nullopt, options);
  EXPECT_TRUE(made) << made.error().message();
  return std::move(*made);
}

inline void expect_box(const Box& box, const Box& expected, float tolerance = 1e-6F) {
  EXPECT_NEAR(box.x1, expected.x1, tolerance);
  EXPECT_NEAR(box.y1, expected.y1, tolerance);
  EXPECT_NEAR(box.x2, expected.x2, tolerance);
  EXPECT_NEAR(box.y2, expected.y2, tolerance);
}

}  // namespace halyard::test
