// SPDX-License-Identifier: Apache-2.0
// Descriptions made by hand, and one call of a decoder made from them.
#pragma once

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "halyard/decode.h"
#include "support/result.h"

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
  EXPECT_OK(decoder);
  if (decoder) {
    EXPECT_OK(decoder->decode_into(tensors, out, batch));
  }
  return out;
}

/// A refusal with this code, whose message has all these words.
template <class T>
void expect_refusal(const Result<T>& result, Errc code, std::initializer_list<const char*> words) {
  EXPECT_FAILS(result, code);
  for (const char* word : words)
    EXPECT_FAILS(result, word);
}
/// The same of an argument.
template <class T>
void expect_wrong(const Result<T>& result, std::initializer_list<const char*> words) {
  expect_refusal(result, Errc::invalid_argument, words);
}

}  // namespace halyard::test
