// SPDX-License-Identifier: Apache-2.0
// .npy files: refused with a message, or a tensor inside its memory that is the same when it is
// written and read again.
#include <algorithm>
#include <cstdint>
#include <span>

#include "fuzz/source.h"
#include "halyard/npy.h"
#include "tensor/memory/touch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace halyard;
  using fuzz::expect;
  const auto tensor = decode_npy(std::as_bytes(std::span(data, size)));
  if (!tensor) {
    expect(!tensor.error().message().empty());
    return 0;
  }
  expect(stays_inside(*tensor));
  const auto map = tensor->map(Access::read);
  expect(map.has_value());
  const std::size_t bytes = tensor->element_count() * size_of(tensor->dtype());
  expect(bytes <= size);
  const auto again = decode_npy(*encode_npy(*tensor));
  expect(again && again->dtype() == tensor->dtype() &&
         std::ranges::equal(again->shape(), tensor->shape()));
  return 0;
}
