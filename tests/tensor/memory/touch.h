// SPDX-License-Identifier: Apache-2.0
// Whether all that a tensor shows lies inside its memory; for tensors made from outside bytes.
#pragma once

#include <cstddef>
#include <span>

#include "halyard/tensor.h"

namespace halyard {

inline volatile unsigned touched_bytes = 0;

/// Reads the ends of a run after checking that it lies in the buffer.
inline bool touch_run(Buffer& buffer, const std::byte* data, std::size_t size) {
  const auto map = buffer.map(Access::read);
  if (!map) return false;
  const std::byte* begin = map->bytes().data();
  const std::byte* end = begin + map->bytes().size();
  if (size == 0 || data < begin || data > end || size > static_cast<std::size_t>(end - data)) {
    return false;
  }
  touched_bytes =
      touched_bytes + static_cast<unsigned>(data[0]) + static_cast<unsigned>(data[size - 1]);
  return true;
}

/// First and last row and some between: a stride that fits the last row fits all.
inline bool touch_plane(const Tensor& tensor, const TensorMap& map, std::size_t index) {
  const auto plane = tensor.image_plane(index);
  const MappedPlane& mapped = map.plane(index);
  if (!plane || mapped.rows == 0) return false;
  const std::size_t step = mapped.rows / 16 + 1;
  for (std::size_t row = 0; row < mapped.rows; row += step) {
    const std::byte* data = mapped.data + row * mapped.stride_bytes;
    if (!touch_run(*plane->buffer, data, mapped.row_bytes)) return false;
  }
  const std::byte* last = mapped.data + (mapped.rows - 1) * mapped.stride_bytes;
  return touch_run(*plane->buffer, last, mapped.row_bytes);
}

/// The elements at the corners of the index space: no other lies further out.
inline bool touch_corners(const Tensor& tensor, const TensorMap& map) {
  if (tensor.element_count() == 0) return true;
  const Layout& layout = tensor.layout();
  for (unsigned corner = 0; corner < 1U << layout.rank; ++corner) {
    std::ptrdiff_t offset = 0;
    for (std::size_t axis = 0; axis < layout.rank; ++axis) {
      if ((corner >> axis & 1U) == 0) continue;
      offset += static_cast<std::ptrdiff_t>(layout.shape[axis] - 1) * layout.stride_bytes[axis];
    }
    if (!touch_run(*tensor.buffer(), map.data() + offset, size_of(layout.dtype))) return false;
  }
  return true;
}

/// Maps the tensor for reading and touches it; true also when it says that no CPU can read it.
inline bool stays_inside(const Tensor& tensor) {
  const auto map = tensor.map(Access::read);
  if (!map) return map.error().code == Errc::unsupported;
  if (!tensor.is_image() && !touch_corners(tensor, *map)) return false;
  for (std::size_t i = 0; i < tensor.plane_count(); ++i)
    if (!touch_plane(tensor, *map, i)) return false;
  if (!tensor.item_format()) return true;
  for (const std::size_t n : {std::size_t{0}, tensor.shape()[0] - 1}) {
    const auto item = tensor.batch(n);
    if (item && (!item->is_image() || !stays_inside(*item))) return false;
  }
  return true;
}

}  // namespace halyard
