// SPDX-License-Identifier: Apache-2.0
// Where the planes of an image lie in memory that somebody else has laid out.
#pragma once

#include <cstddef>
#include <span>

#include "halyard/tensor.h"

namespace halyard {

/// An image to be laid over memory. Not linear: rows and extents mean nothing to a CPU.
struct ImageLayout {
  std::size_t width;
  std::size_t height;
  PixelFormat format;
  DType dtype;
  bool linear;
};

/// A storage plane in its buffer. A planar image is one; its region is the first colour plane.
struct PlacedPlane {
  ByteRegion region;
  std::size_t plane_stride_bytes = 0;  ///< between the colour planes of planar formats, else 0
};

/// Storage plane `i` in the buffer of `source`, which is the entry of this plane alone or the one
/// for the whole image. Errors: invalid_argument (it leaves the buffer; a stride too small;
/// offset or stride no multiple of the element size; overflow).
Result<PlacedPlane> place_plane(const ImageLayout& image, const Tensor::PlaneSource& source,
                                bool own_entry, std::size_t i);

/// Whether no two planes share a byte, be it through two buffers over one kernel object.
/// Errors: invalid_argument.
Status check_apart(std::span<const Tensor::PlaneSource> planes,
                   std::span<const PlacedPlane> placed);

}  // namespace halyard
