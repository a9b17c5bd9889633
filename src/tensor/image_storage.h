// SPDX-License-Identifier: Apache-2.0
// What a picture takes in memory, for all that allocate one.
#pragma once

#include <cstddef>

#include "halyard/tensor.h"

namespace halyard {

struct ImageStorage {
  std::size_t stride_bytes = 0;
  std::size_t size_bytes = 0;
};

/// Checks the request and chooses the row pitch. Errors: those of Tensor::create_image(),
/// allocation aside.
Result<ImageStorage> image_storage(std::size_t width, std::size_t height, PixelFormat format,
                                   const ImageOptions& options);

}  // namespace halyard
