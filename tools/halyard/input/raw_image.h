// SPDX-License-Identifier: Apache-2.0
// Images as bare samples: reading and writing.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "halyard/result.h"
#include "halyard/tensor.h"

namespace halyard::tool {

/// The image's samples at tight strides, plane after plane, and the shape of that array. NV12 and
/// similar formats: rows of the tight stride, luma first. Errors: those of mapping.
struct RawImage {
  std::vector<std::size_t> shape;
  std::vector<std::byte> bytes;
};
Result<RawImage> raw_image(const Tensor& image);

/// The inverse of raw_image(): makes an image from samples at tight strides. Errors:
/// invalid_argument (length of `bytes`), those of create_image().
Result<Tensor> image_from_raw(std::span<const std::byte> bytes, Size size, PixelFormat format,
                              DType dtype = DType::u8);

}  // namespace halyard::tool
