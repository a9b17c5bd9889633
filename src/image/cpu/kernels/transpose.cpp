// SPDX-License-Identifier: Apache-2.0
// Transposes blocks of elements. A vector is loaded as blocks of 16 bytes from rows that are a
// block's height apart, so that each round of interleaving within blocks works on all of them.
// Bytes only move: there is no arithmetic.
#include "image/cpu/kernels/transpose.h"

#include <algorithm>
#include <cstring>

// Enables the portable target. GCC before 12.3 gets its high halves of products wrong; this file
// has none.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cpu/kernels/transpose.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Loads sixteen bytes of every `side`-th row, from `in` on, as the blocks of one vector.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const std::byte* in, std::ptrdiff_t stride,
                                  std::ptrdiff_t side) {
  using T = hn::TFromD<D>;
  constexpr std::size_t blocks = hn::MaxLanes(D()) * sizeof(T) / 16;
  if constexpr (blocks == 1) {
    return hn::LoadU(d, reinterpret_cast<const T*>(in));
  } else {
    const hn::Half<D> half;
    const std::ptrdiff_t upper = stride * side * static_cast<std::ptrdiff_t>(blocks / 2);
    return hn::Combine(d, load_blocks(half, in + upper, stride, side),
                       load_blocks(half, in, stride, side));
  }
}

// Byte shuffles of a block: `spread` before the transpose, `pack` after it.
struct Order {
  HWY_ALIGN std::uint8_t spread[16];
  HWY_ALIGN std::uint8_t pack[16];
};

Order order_of(const TransposeJob& job, std::size_t skipped) {
  Order order{};
  const std::size_t bytes = job.element_bytes;
  const std::size_t lane = bytes == 3 ? 4 : bytes;
  for (std::size_t i = 0; i < 16; ++i) {
    const std::size_t k = std::min(i % lane, bytes - 1);
    order.spread[i] = static_cast<std::uint8_t>(skipped + i / lane * bytes + job.order[k]);
    order.pack[i] = static_cast<std::uint8_t>(i < 12 ? i / 3 * 4 + i % 3 : 15);
  }
  return order;
}

template <class D>
HWY_INLINE void store_row(D d, hn::Vec<D> v, std::byte* out) {
  hn::StoreU(v, d, reinterpret_cast<hn::TFromD<D>*>(out));
}

// Stores four elements of three bytes per block, packed; each block overwrites the spare bytes of
// the one before.
template <class D>
HWY_INLINE void store_triples(D /*d*/, hn::Vec<D> v, const std::uint8_t* pack, std::byte* out) {
  const hn::Repartition<std::uint8_t, D> d8;
  const hn::Full128<std::uint8_t> block;
  HWY_ALIGN std::uint8_t packed[HWY_MAX_BYTES];
  hn::Store(hn::TableLookupBytes(hn::BitCast(d8, v), hn::LoadDup128(d8, pack)), d8, packed);
  for (std::size_t b = 0; b < hn::Lanes(d8) / 16; ++b)
    hn::StoreU(hn::Load(block, packed + 16 * b), block,
               reinterpret_cast<std::uint8_t*>(out) + 12 * b);
}

// Does log2(side) rounds that interleave rows i and i + side / 2: each round rotates the index of
// an element by one bit.
template <class D, std::size_t side>
HWY_INLINE void interleave_rows(D d, hn::Vec<D> (&a)[side]) {
  hn::Vec<D> b[side];
  for (std::size_t width = 1; width < side; width *= 2) {
    for (std::size_t i = 0; i < side / 2; ++i) {
      b[2 * i] = hn::InterleaveLower(d, a[i], a[i + side / 2]);
      b[2 * i + 1] = hn::InterleaveUpper(d, a[i], a[i + side / 2]);
    }
    for (std::size_t i = 0; i < side; ++i)
      a[i] = b[i];
  }
}

// Transposes `side` columns of as many rows as a vector has lanes.
template <class T, bool ordered, bool triples>
HWY_INLINE void transpose_block(const std::byte* in, std::ptrdiff_t in_stride, const Order& order,
                                std::byte* out, std::ptrdiff_t out_stride) {
  constexpr std::size_t side = 16 / sizeof(T);
  const hn::ScalableTag<T> d;
  const hn::Repartition<std::uint8_t, decltype(d)> d8;
  hn::Vec<decltype(d)> a[side];
  for (std::size_t i = 0; i < side; ++i) {
    a[i] = load_blocks(d, in + static_cast<std::ptrdiff_t>(i) * in_stride, in_stride, side);
    if constexpr (ordered) {
      const auto table = hn::LoadDup128(d8, order.spread);
      a[i] = hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(d8, a[i]), table));
    }
  }
  interleave_rows(d, a);
  for (std::size_t i = 0; i < side; ++i) {
    std::byte* to = out + static_cast<std::ptrdiff_t>(i) * out_stride;
    if constexpr (triples) {
      store_triples(d, a[i], order.pack, to);
    } else {
      store_row(d, a[i], to);
    }
  }
}

// Copies the part of a block that the image has; blocks at its edges are read from this copy.
template <class T>
void copy_block(const TransposeJob& job, std::size_t row, std::size_t column, std::byte* copy) {
  const std::size_t bytes = job.element_bytes;
  const std::size_t columns = std::min(16 / sizeof(T), job.in_columns - column);
  const std::size_t rows = std::min(hn::MaxLanes(hn::ScalableTag<T>()), job.in_rows - row);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::byte* from = job.in + static_cast<std::ptrdiff_t>(row + i) * job.in_stride;
    std::memcpy(copy + 16 * i, from + column * bytes, columns * bytes);
  }
}

template <class T, bool ordered, bool triples>
void transpose_elements_as(const TransposeJob& job) {
  constexpr std::size_t side = 16 / sizeof(T);
  constexpr std::size_t lanes = hn::MaxLanes(hn::ScalableTag<T>());
  const std::size_t bytes = job.element_bytes;
  constexpr std::size_t skipped = triples ? 4 : 0;  // so that the last load ends where the row ends
  const Order first = order_of(job, 0);
  const Order last = order_of(job, skipped);
  HWY_ALIGN std::byte copy[16 * lanes] = {};
  const bool wide = job.in_columns >= (triples ? side + 2 : side);
  const std::size_t last_column = std::max(job.in_columns, side) - side;
  for (std::size_t row = 0; row < job.in_rows; row += lanes) {
    for (std::size_t at = 0; at < job.in_columns; at += side) {
      const std::size_t column = std::min(at, last_column);  // the last block overlaps
      std::byte* out = job.out + static_cast<std::ptrdiff_t>(column) * job.out_stride + row * bytes;
      if (!wide || row + lanes > job.in_rows) {
        copy_block<T>(job, row, column, copy);
        transpose_block<T, ordered, triples>(copy, 16, first, out, job.out_stride);
        continue;
      }
      const bool ends = triples && column * bytes + 16 > job.in_columns * bytes;
      const std::byte* in =
          job.in + static_cast<std::ptrdiff_t>(row) * job.in_stride + column * bytes;
      transpose_block<T, ordered, triples>(ends ? in - skipped : in, job.in_stride,
                                           ends ? last : first, out, job.out_stride);
    }
  }
}

void TransposeElements(const TransposeJob& job) {
  const auto reorders = [&job] {
    for (std::size_t k = 0; k < job.element_bytes; ++k)
      if (job.order[k] != k) return true;
    return false;
  };
  switch (job.element_bytes) {
    case 1:
      return transpose_elements_as<std::uint8_t, false, false>(job);
    case 2:
      return reorders() ? transpose_elements_as<std::uint16_t, true, false>(job)
                        : transpose_elements_as<std::uint16_t, false, false>(job);
    case 3:
      return transpose_elements_as<std::uint32_t, true, true>(job);
    default:
      return reorders() ? transpose_elements_as<std::uint32_t, true, false>(job)
                        : transpose_elements_as<std::uint32_t, false, false>(job);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::image {

HWY_EXPORT(TransposeElements);

void transpose_elements(const TransposeJob& job) noexcept {
  HWY_DYNAMIC_DISPATCH(TransposeElements)(job);
}

}  // namespace halyard::image
#endif
