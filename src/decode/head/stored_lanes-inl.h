// SPDX-License-Identifier: Apache-2.0
// Loads stored scores into vectors. Include once per target, outside of any namespace.
#if defined(HALYARD_DECODE_STORED_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HALYARD_DECODE_STORED_LANES_INL_H_
#undef HALYARD_DECODE_STORED_LANES_INL_H_
#else
#define HALYARD_DECODE_STORED_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "decode/head/argmax_scan.h"
#include "decode/head/threshold.h"

HWY_BEFORE_NAMESPACE();
namespace halyard::decode {
namespace HWY_NAMESPACE {
namespace {

// How a stored type is compared: by a key that has the order of the values. For 16-bit floats the
// key is ordinal(). If the threshold is above 0, their bits serve as key, because the bits of
// negative values are negative as int16.
template <class T, bool is_above_zero = false>
struct Stored {
  static constexpr bool is_short_float = infinity_bits<T> != 0;
  using Lane = std::conditional_t<is_short_float, std::int16_t, T>;

  template <class D>
  static HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> key(D d, const Lane* at) {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto value = hn::LoadU(d, at);
    if constexpr (is_short_float && !is_above_zero) {
      const auto sign = hn::ShiftRight<15>(value);
      return hn::Sub(hn::Xor(hn::And(value, hn::Set(d, Lane{0x7FFF})), sign), sign);
    } else {
      return value;
    }
  }
  static Lane key_of(T value) {
    if constexpr (is_short_float) {
      return ordinal(value);
    } else {
      return value;
    }
  }
  // Clears the mask for NaN; only for keys that are above another key.
  template <class D, class M>
  static HWY_INLINE M without_nan(D d, hwy::HWY_NAMESPACE::Vec<D> value, M mask) {
    namespace hn = hwy::HWY_NAMESPACE;
    if constexpr (is_short_float) {
      constexpr Lane first_nan = infinity_bits<T> + 1;
      return hn::And(mask, hn::Lt(value, hn::Set(d, first_nan)));
    } else {
      (void)d, (void)value;
      return mask;
    }
  }
  static float to_real(Lane stored) {
    if constexpr (is_short_float) {
      return to_float(T{static_cast<std::uint16_t>(stored)});
    } else {
      return static_cast<float>(stored);
    }
  }
};

// Calls by_columns(data, stride) if the anchors are adjacent ([4 + C, N], `stride` lanes from class
// to class), or by_rows(d, data, stride) if the classes are ([N, 4 + C]). There are at least as
// many anchors, or classes, as the vector has lanes. Returns false if the grid does not suit
// vectors (misaligned, other strides, few classes or anchors).
template <class Lane, class Columns, class Rows>
bool in_vectors(const ScoreGrid& grid, Columns by_columns, Rows by_rows) {
  namespace hn = hwy::HWY_NAMESPACE;
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(Lane));
  const hn::ScalableTag<Lane> d;
  const hn::CappedTag<Lane, 16 / sizeof(Lane)> quarter;
  if (reinterpret_cast<std::uintptr_t>(grid.data) % sizeof(Lane) != 0) return false;
  const auto* data = reinterpret_cast<const Lane*>(grid.data);
  if (grid.anchor_stride_bytes == size && grid.class_stride_bytes % size == 0 &&
      grid.anchors >= hn::Lanes(d)) {
    by_columns(data, grid.class_stride_bytes / size);
    return true;
  }
  if (grid.class_stride_bytes != size || grid.anchor_stride_bytes % size != 0) return false;
  const std::ptrdiff_t stride = grid.anchor_stride_bytes / size;
  if (grid.classes >= hn::Lanes(d)) {
    by_rows(d, data, stride);
    return true;
  }
  if (grid.classes >= hn::Lanes(quarter)) {
    by_rows(quarter, data, stride);
    return true;
  }
  return false;
}

// Calls use(first, count) for successive blocks of `step` anchors. The last block can have up to
// lanes - 1 more, so that none has fewer than `lanes`. anchors >= lanes, step >= lanes.
template <class Use>
HWY_INLINE void for_each_block(std::size_t anchors, std::size_t step, std::size_t lanes, Use use) {
  for (std::size_t start = 0; start < anchors;) {
    std::size_t count = std::min(step, anchors - start);
    const std::size_t rest = anchors - start - count;
    if (rest < lanes) count += rest;
    use(start, count);
    start += count;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::decode
HWY_AFTER_NAMESPACE();

#endif
