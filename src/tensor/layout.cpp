// SPDX-License-Identifier: Apache-2.0
// Checks and computes shapes and strides.
#include <algorithm>
#include <cstdint>

#include "base/text/format_error.h"
#include "halyard/tensor.h"

namespace halyard {
namespace {

constexpr auto largest = static_cast<std::size_t>(PTRDIFF_MAX);

}  // namespace

Status Layout::check_size(DType dtype, std::span<const std::size_t> shape) {
  if (shape.empty() || shape.size() > max_rank) {
    return fail(Errc::invalid_argument, "shape: rank must be 1..8", "rank {}", shape.size());
  }
  std::size_t bytes = size_of(dtype);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (__builtin_mul_overflow(bytes, std::max<std::size_t>(shape[axis], 1), &bytes) ||
        bytes > largest) {
      return fail(Errc::invalid_argument, "shape: size in bytes overflows", "axis {} of extent {}",
                  axis, shape[axis]);
    }
  }
  return {};
}

Result<Layout> Layout::contiguous(DType dtype, std::span<const std::size_t> shape) {
  HALYARD_RETURN_IF_ERROR(check_size(dtype, shape));
  Result<Layout> made(std::in_place);
  Layout& layout = *made;
  layout.dtype = dtype;
  layout.rank = static_cast<std::uint8_t>(shape.size());
  std::size_t bytes = size_of(dtype);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    layout.shape[axis] = shape[axis];
    layout.stride_bytes[axis] = static_cast<std::ptrdiff_t>(bytes);
    bytes *= std::max<std::size_t>(shape[axis], 1);
  }
  return made;
}

[[gnu::hot]] std::size_t Layout::element_count() const noexcept {
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

std::optional<Reach> reach_of(std::span<const std::size_t> shape,
                              std::span<const std::ptrdiff_t> stride_bytes,
                              std::size_t element_bytes) noexcept {
  if (std::find(shape.begin(), shape.end(), std::size_t{0}) != shape.end()) return Reach{};
  if (element_bytes > largest) return std::nullopt;
  Reach reach{0, static_cast<std::ptrdiff_t>(element_bytes)};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::ptrdiff_t span = 0;
    if (shape[axis] - 1 > largest ||
        __builtin_mul_overflow(stride_bytes[axis], static_cast<std::ptrdiff_t>(shape[axis] - 1),
                               &span))
      return std::nullopt;
    std::ptrdiff_t& bound = span < 0 ? reach.lowest : reach.end;
    if (__builtin_add_overflow(bound, span, &bound)) return std::nullopt;
  }
  std::ptrdiff_t size = 0;
  if (__builtin_sub_overflow(reach.end, reach.lowest, &size)) return std::nullopt;
  return reach;
}

std::optional<Reach> reach_of(const Layout& layout) noexcept {
  return reach_of(layout.dims(), layout.stride_bytes, size_of(layout.dtype));
}

}  // namespace halyard
