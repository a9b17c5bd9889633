// SPDX-License-Identifier: Apache-2.0
// Bytes that messages of the tests hold, and images of noise: any encoding, in the middle of a
// buffer.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <vector>

#include "halyard/image_message.h"
#include "plain_planes.h"

namespace halyard::test {

/// Bytes that count up in steps of 31.
inline std::vector<std::byte> counted(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::byte>(i * 31 + 7);
  return bytes;
}

/// The bytes of a message without gaps.
template <class Message>
std::vector<std::byte> packed(const Message& message) {
  std::vector<std::byte> bytes(message.nbytes());
  EXPECT_TRUE(copy_packed(message.tensor(), std::span(bytes)));
  return bytes;
}

inline std::vector<std::byte> noise(std::size_t bytes, std::mt19937& random) {
  std::vector<std::byte> out(bytes);
  for (std::byte& b : out)
    b = static_cast<std::byte>(random());
  return out;
}

// An image of noise with a random stride, in the middle of a buffer.
struct Scene {
  Image image;
  std::shared_ptr<Buffer> buffer;
  std::vector<PlainPlane> planes;  // offsets in the buffer

  std::vector<std::byte> bytes() const {
    const Map map = *buffer->map(Access::read);
    return {map.bytes().begin(), map.bytes().end()};
  }
};

inline Scene scene(const ImageEncodingInfo& row, std::size_t width, std::size_t height,
                   std::mt19937& random) {
  const std::size_t element = size_of(row.dtype);
  const std::size_t stride =
      *tight_stride(row.format, row.dtype, width) + random() % 9 * 2 * element;
  const std::size_t offset = random() % 5 * 8;
  const std::size_t bytes = offset + *image_bytes(row.format, row.dtype, width, height, stride);
  auto buffer = *allocate(bytes + 16, Memory::mem);
  {
    const Map map = *buffer->map(Access::write);
    const auto content = noise(bytes + 16, random);
    std::copy(content.begin(), content.end(), map.writable_bytes().begin());
  }
  const Tensor::PlaneSource whole{buffer, offset, stride};
  Tensor tensor = *Tensor::wrap_image({&whole, 1}, width, height, row.format, row.dtype);
  tensor.set_colorimetry(Colorimetry::jpeg());
  return {*Image::wrap(tensor, row.encoding), buffer,
          plain_planes(row.format, element, width, height, stride, offset)};
}

}  // namespace halyard::test
