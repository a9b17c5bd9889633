// SPDX-License-Identifier: Apache-2.0
// Copies between arrays of any strides. Axes are merged where both sides allow it. Then either the
// innermost axis is a run of bytes on both sides, or the array is transposed and is copied by
// square blocks.
#include "halyard/strided_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace halyard {
namespace {

// One axis of a walk over two arrays of one shape.
struct WalkAxis {
  std::size_t extent;
  std::ptrdiff_t from;
  std::ptrdiff_t to;
};
using WalkAxes = std::vector<WalkAxis>;

// Both arrays with axes of common extents; empty if a boundary falls inside an axis.
WalkAxes common_axes(const Layout& a, const Layout& b) {
  WalkAxes walk;
  int i = a.rank - 1;
  int j = b.rank - 1;
  std::size_t left_a = 1;
  std::size_t left_b = 1;
  std::ptrdiff_t step_a = 0;
  std::ptrdiff_t step_b = 0;
  while (true) {
    while (left_a == 1 && i >= 0) {
      left_a = a.shape[static_cast<std::size_t>(i)];
      step_a = a.stride_bytes[static_cast<std::size_t>(i--)];
    }
    while (left_b == 1 && j >= 0) {
      left_b = b.shape[static_cast<std::size_t>(j)];
      step_b = b.stride_bytes[static_cast<std::size_t>(j--)];
    }
    if (left_a == 1 && left_b == 1) break;
    const std::size_t extent = std::min(left_a, left_b);
    if (left_a % extent != 0 || left_b % extent != 0) return {};
    walk.push_back({extent, step_a, step_b});
    left_a /= extent;
    left_b /= extent;
    step_a *= static_cast<std::ptrdiff_t>(extent);
    step_b *= static_cast<std::ptrdiff_t>(extent);
  }
  std::reverse(walk.begin(), walk.end());
  // Neighbouring axes that are contiguous on both sides are merged.
  WalkAxes merged;
  for (const WalkAxis& axis : walk) {
    const auto extent = static_cast<std::ptrdiff_t>(axis.extent);
    if (!merged.empty() && merged.back().from == axis.from * extent &&
        merged.back().to == axis.to * extent) {
      merged.back() = {merged.back().extent * axis.extent, axis.from, axis.to};
    } else {
      merged.push_back(axis);
    }
  }
  return merged;
}

template <std::size_t size>
void copy_line(const WalkAxis& axis, const std::byte* from, std::byte* to) {
  if (axis.from == static_cast<std::ptrdiff_t>(size) && axis.to == axis.from) {
    std::memcpy(to, from, axis.extent * size);
    return;
  }
  for (std::size_t i = 0; i < axis.extent; ++i, from += axis.from, to += axis.to)
    std::memcpy(to, from, size);
}

// Two axes, the inner of which has a wide stride on one side: in blocks of 32 x 32.
template <std::size_t size>
void copy_blocks(const WalkAxis& outer, const WalkAxis& inner, const std::byte* from,
                 std::byte* to) {
  constexpr std::size_t block = 32;
  for (std::size_t i = 0; i < outer.extent; i += block) {
    const std::size_t rows = std::min(block, outer.extent - i);
    for (std::size_t j = 0; j < inner.extent; j += block) {
      const WalkAxis columns{std::min(block, inner.extent - j), inner.from, inner.to};
      for (std::size_t k = 0; k < rows; ++k) {
        const auto row = static_cast<std::ptrdiff_t>(i + k);
        const auto column = static_cast<std::ptrdiff_t>(j);
        copy_line<size>(columns, from + row * outer.from + column * inner.from,
                        to + row * outer.to + column * inner.to);
      }
    }
  }
}

template <std::size_t size>
void copy_walk(std::span<const WalkAxis> walk, const std::byte* from, std::byte* to) {
  if (walk.empty()) {
    std::memcpy(to, from, size);
  } else if (walk.size() == 1) {
    copy_line<size>(walk[0], from, to);
  } else if (walk.size() == 2 && walk[1].from != static_cast<std::ptrdiff_t>(size)) {
    copy_blocks<size>(walk[0], walk[1], from, to);
  } else {
    for (std::size_t i = 0; i < walk[0].extent; ++i) {
      const auto step = static_cast<std::ptrdiff_t>(i);
      copy_walk<size>(walk.subspan(1), from + step * walk[0].from, to + step * walk[0].to);
    }
  }
}

void copy_sized(std::size_t size, std::span<const WalkAxis> walk, const std::byte* from,
                std::byte* to) {
  switch (size) {
    case 1:
      return copy_walk<1>(walk, from, to);
    case 2:
      return copy_walk<2>(walk, from, to);
    case 4:
      return copy_walk<4>(walk, from, to);
    default:
      return copy_walk<8>(walk, from, to);
  }
}

Layout contiguous_like(const Layout& layout) {
  return *Layout::contiguous(layout.dtype, layout.dims());
}

struct Addresses {
  std::uintptr_t begin;
  std::uintptr_t end;
};

Addresses addresses_of(const Layout& layout, const std::byte* data) noexcept {
  const auto reach = reach_of(layout);
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  if (!reach) return {0, UINTPTR_MAX};
  return {address + static_cast<std::uintptr_t>(reach->lowest),
          address + static_cast<std::uintptr_t>(reach->end)};
}

}  // namespace

bool may_share_bytes(const Layout& a, const std::byte* data_a, const Layout& b,
                     const std::byte* data_b) noexcept {
  const Addresses one = addresses_of(a, data_a);
  const Addresses other = addresses_of(b, data_b);
  return one.begin < other.end && other.begin < one.end;
}

void copy_elements(const Layout& from, const std::byte* source, const Layout& to,
                   std::byte* destination) {
  const std::size_t count = from.element_count();
  if (count == 0) return;
  const std::size_t size = size_of(from.dtype);
  if (count == 1 || (from.is_contiguous() && to.is_contiguous())) {
    std::memcpy(destination, source, from.size_bytes());
    return;
  }
  const WalkAxes walk = common_axes(from, to);
  if (!walk.empty()) return copy_sized(size, walk, source, destination);
  // Axes that do not match: through a contiguous copy of the elements.
  const Layout plain = contiguous_like(from);
  std::vector<std::byte> elements(from.size_bytes());
  copy_sized(size, common_axes(from, plain), source, elements.data());
  copy_sized(size, common_axes(contiguous_like(to), to), elements.data(), destination);
}

void copy_overlapping_elements(const Layout& from, const std::byte* source, const Layout& to,
                               std::byte* destination) {
  // memmove() cannot know that two addresses may map the same bytes.
  const bool is_one_mapping = may_share_bytes(from, source, to, destination);
  if (is_one_mapping && from.is_contiguous() && to.is_contiguous()) {
    std::memmove(destination, source, from.size_bytes());
    return;
  }
  const Layout plain = contiguous_like(from);
  std::vector<std::byte> elements(from.size_bytes());
  copy_elements(from, source, plain, elements.data());
  copy_elements(plain, elements.data(), to, destination);
}

}  // namespace halyard
