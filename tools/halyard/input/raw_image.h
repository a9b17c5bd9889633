// SPDX-License-Identifier: Apache-2.0
// Pictures as bare samples, and back.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "halyard/result.h"
#include "halyard/tensor.h"

namespace halyard::tool {

/// The picture's samples at tight strides, plane after plane, and the array shape they have.
/// NV12 and its like: rows of the tight stride, luma first. Errors: those of mapping.
struct RawPicture {
  std::vector<std::size_t> shape;
  std::vector<std::byte> bytes;
};
Result<RawPicture> raw_picture(const Tensor& picture);

/// The reverse: fills a new picture from samples at tight strides. Errors: invalid_argument (length
/// of `bytes`), those of create_image.
Result<Tensor> picture_from_raw(std::span<const std::byte> bytes, Size size, PixelFormat format,
                                DType dtype = DType::u8);

}  // namespace halyard::tool
