// SPDX-License-Identifier: Apache-2.0
// Sets of bytes: the oracle for which tensors share memory.
#pragma once

#include <algorithm>
#include <set>

#include "support/product.h"
#include "tensor/tensors.h"

namespace halyard::test {

/// Bytes of the first buffer that belong to the image, plane by plane.
inline std::set<std::size_t> bytes_of(const Tensor& image) {
  std::set<std::size_t> bytes;
  for (std::size_t p = 0; p < image.plane_count(); ++p) {
    const ImagePlane plane = *image.image_plane(p);
    for (const auto [row, i] : grid<std::size_t>(plane.rows, plane.row_bytes))
      bytes.insert(plane.offset_bytes + row * plane.stride_bytes + i);
  }
  return bytes;
}

inline bool share_bytes(const Tensor& a, const Tensor& b) {
  const auto first = bytes_of(a);
  const auto second = bytes_of(b);
  return std::any_of(first.begin(), first.end(),
                     [&second](std::size_t byte) { return second.count(byte) != 0; });
}

}  // namespace halyard::test
