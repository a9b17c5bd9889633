// SPDX-License-Identifier: Apache-2.0
// Tensors on the heap, as tests of the tensor layer need them.
#pragma once

#include <initializer_list>
#include <numeric>
#include <span>

#include "halyard/tensor.h"

namespace halyard::test {

inline Tensor image_of(std::size_t width, std::size_t height, PixelFormat format,
                       DType dtype = DType::u8) {
  return *Tensor::create_image(width, height, format, dtype, Memory::mem);
}

inline Tensor batch_of(std::size_t count, std::size_t width, std::size_t height, PixelFormat format,
                       DType dtype = DType::u8) {
  return *Tensor::create_image_batch(count, width, height, format,
                                     {.dtype = dtype, .memory = Memory::mem});
}

inline Layout contiguous(DType dtype, std::initializer_list<std::size_t> shape) {
  return *Layout::contiguous(dtype, std::span(shape.begin(), shape.size()));
}

/// Element i, in C order, is i.
template <class T = std::int32_t>
Tensor counting(std::initializer_list<std::size_t> shape, DType dtype = DType::i32,
                Memory memory = Memory::mem) {
  Tensor tensor = *Tensor::create(dtype, shape, memory);
  const auto map = *tensor.map(Access::write);
  const auto flat = *map.template flat<T>();
  std::iota(flat.begin(), flat.end(), T{0});
  return tensor;
}

}  // namespace halyard::test
