// SPDX-License-Identifier: Apache-2.0
// Descriptions made by hand, and one call of a decoder made from them.
#pragma once

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "halyard/decode.h"

namespace halyard::test {

inline OutputDescription output_of(OutputRole role, std::vector<std::size_t> shape,
                                   BoxUnits units = BoxUnits::pixels) {
  OutputDescription out;
  out.role = role;
  out.shape = std::move(shape);
  out.box_units = units;
  return out;
}

inline ModelDescription model_of(Size input, std::vector<OutputDescription> outputs) {
  ModelDescription out;
  out.input = input;
  out.outputs = std::move(outputs);
  return out;
}

/// Everything that the tensors hold; a failure of the test where there is none.
inline Decoded decode_all(const ModelDescription& description, const std::vector<Tensor>& tensors,
                          const DecodeOptions& options = {}, std::size_t batch = 0) {
  Decoded out;
  const auto decoder = Decoder::create(description, options);
  EXPECT_TRUE(decoder) << decoder.error().message();
  if (!decoder) return out;
  const Status done = decoder->decode_into(tensors, out, batch);
  EXPECT_TRUE(done) << done.error().message();
  return out;
}

/// The message of the refusal, of creation or of the call; empty where there is none.
inline std::string refusal_of(const ModelDescription& description,
                              const std::vector<Tensor>& tensors = {},
                              const DecodeOptions& options = {}) {
  const auto decoder = Decoder::create(description, options);
  if (!decoder) return decoder.error().message();
  if (tensors.empty()) return "";
  const auto found = decoder->decode(tensors);
  return found ? "" : found.error().message();
}

}  // namespace halyard::test
