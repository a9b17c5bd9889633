// SPDX-License-Identifier: Apache-2.0
// Shapes and strides.
#include <algorithm>

#include "base/checked.h"
#include "base/format_error.h"
#include "halyard/tensor.h"

namespace halyard {

Result<Layout> Layout::contiguous(DType dtype, std::span<const std::size_t> shape) {
  if (shape.empty() || shape.size() > max_rank) {
    return fail(Errc::invalid_argument, "shape: rank must be 1..8", "rank {}", shape.size());
  }
  Layout layout;
  layout.dtype = dtype;
  layout.rank = static_cast<std::uint8_t>(shape.size());
  std::copy(shape.begin(), shape.end(), layout.shape.begin());
  std::size_t bytes = size_of(dtype);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    layout.stride_bytes[axis] = static_cast<std::ptrdiff_t>(bytes);
    const auto product = checked_mul(bytes, std::max<std::size_t>(shape[axis], 1));
    if (!product || *product > static_cast<std::size_t>(PTRDIFF_MAX)) {
      return fail(Errc::invalid_argument, "shape: size in bytes overflows", "axis {} of extent {}",
                  axis, shape[axis]);
    }
    bytes = *product;
  }
  return layout;
}

std::size_t Layout::element_count() const noexcept {
  std::size_t count = rank == 0 ? 0 : 1;
  for (const std::size_t extent : dims())
    count *= extent;
  return count;
}

bool Layout::is_contiguous() const noexcept {
  auto expected = static_cast<std::ptrdiff_t>(size_of(dtype));
  for (std::size_t axis = rank; axis-- > 0;) {
    if (shape[axis] != 1 && stride_bytes[axis] != expected) return false;
    expected *= static_cast<std::ptrdiff_t>(shape[axis]);
  }
  return true;
}

}  // namespace halyard
