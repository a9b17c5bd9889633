// SPDX-License-Identifier: Apache-2.0
// Describes planes of DMA-BUFs as textures.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gl/memory/dma_image.h"
#include "halyard/tensor.h"
#include "image/gl/uniforms.h"

namespace halyard::image {

/// A plane inside a texture over its buffer.
struct PlaneImport {
  gl::DmaImageLayout layout;
  TexelOrigin origin;  ///< of the plane in the texture
};

/// One texture over all rows of the buffer where that is possible, so that all planes, slices and
/// batch elements with this stride share one import; else a texture over the plane alone.
/// `texel_bytes` is 1, 2 or 4.
PlaneImport describe_import(const ImagePlane& plane, std::size_t texel_bytes,
                            std::uint64_t modifier, std::int32_t max_texture_size) noexcept;

}  // namespace halyard::image
