// SPDX-License-Identifier: Apache-2.0
// Placement of an image's planes in memory that another party has laid out.
#pragma once

#include <cstddef>
#include <span>

#include "halyard/tensor.h"

namespace halyard {

/// An image to be laid over memory. If it is not linear, rows and extents have no meaning for a
/// CPU.
struct ImageLayout {
  std::size_t width;
  std::size_t height;
  PixelFormat format;
  DType dtype;
  bool linear;
};

/// A storage plane in its buffer. A planar image has one; its region is the first colour plane.
struct PlacedPlane {
  ByteRegion region;
  std::size_t plane_stride_bytes = 0;  ///< between the colour planes of planar formats, else 0
};

/// Places storage plane `i` in the buffer of `source`, which is the entry of this plane alone
/// (`own_entry`) or of the whole image. Errors: invalid_argument (the plane leaves the buffer; a
/// stride is too small; offset or stride is not a multiple of the element size; overflow).
Result<PlacedPlane> place_plane(const ImageLayout& image, const Tensor::PlaneSource& source,
                                bool own_entry, std::size_t i);

/// Checks that no two planes share a byte, also through two buffers over one kernel object. Errors:
/// invalid_argument.
Status check_apart(std::span<const Tensor::PlaneSource> planes,
                   std::span<const PlacedPlane> placed);

}  // namespace halyard
