// SPDX-License-Identifier: Apache-2.0
// The class scan on vectors, for all targets of the architecture, chosen at run time.
//
// Classes lie in rows of anchors ([4 + C, N]): rows are swept over a block of anchors whose running
// best stays in the L1 cache. The running best starts just below the threshold, so eight rows in
// which nothing exceeds it cost eight loads, eight compares and one branch.
// Anchors lie in rows of classes ([N, 4 + C]): a row is looked through for any passing value first.
#include "decode/class_scan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/class_scan.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "decode/threshold.h"

HWY_BEFORE_NAMESPACE();
namespace halyard::decode {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t block_bytes = 4096;  // of one row: whole pages for the prefetcher
constexpr std::size_t row_group = 8;

// Lanes of a stored type: f16 values that pass are positive, and positive ones are ordered as their
// bits are, so they are compared as i16; only NaN needs a look.
template <class T>
struct Stored {
  using Lane = T;
  static constexpr bool is_half = false;
};
template <>
struct Stored<Half> {
  using Lane = std::int16_t;
  static constexpr bool is_half = true;
};

// value > best; false for NaN on either side.
template <bool is_half, class D, class V>
HWY_INLINE hn::Mask<D> above(D d, V value, V best) {
  const auto greater = hn::Gt(value, best);
  if constexpr (is_half) {
    return hn::And(greater, hn::Lt(value, hn::Set(d, static_cast<hn::TFromD<D>>(0x7C01))));
  } else {
    (void)d;
    return greater;
  }
}

template <bool is_half, class T>
float raw_as_float(T value) {
  if constexpr (is_half) {
    return to_float(Half{static_cast<std::uint16_t>(value)});
  } else {
    return static_cast<float>(value);
  }
}

// Running best of one block of anchors. `arg` counts within a chunk of classes that its lanes can
// hold; `label` is the class of `settled`, the best of the chunks before.
template <class T>
struct Block {
  using Arg = hwy::MakeUnsigned<T>;
  static constexpr std::size_t capacity =
      block_bytes / sizeof(T) + hn::MaxLanes(hn::ScalableTag<T>());
  alignas(64) std::array<T, capacity> best;
  alignas(64) std::array<Arg, capacity> arg;
  alignas(64) std::array<T, capacity> settled;
  alignas(64) std::array<std::int32_t, capacity> label;
};

// Anchors [0, count) of `count >= Lanes(d)` rows lie at row + r * stride. The last vector overlaps
// the one before: taking a row twice changes nothing, as only strictly greater values count.
template <bool is_half, class T>
HWY_INLINE void sweep_rows(const T* row, std::ptrdiff_t stride, std::size_t first_arg,
                           std::size_t rows, std::size_t count, Block<T>& block) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  using Arg = typename Block<T>::Arg;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t start = 0; start < count; start += lanes) {
    const std::size_t i = std::min(start, count - lanes);
    auto best = hn::LoadU(d, block.best.data() + i);
    auto any = hn::FirstN(d, 0);
    for (std::size_t r = 0; r < rows; ++r) {
      const auto value = hn::LoadU(d, row + static_cast<std::ptrdiff_t>(r) * stride + i);
      any = hn::Or(any, above<is_half>(d, value, best));
    }
    if (HWY_LIKELY(hn::AllFalse(d, any))) continue;
    auto arg = hn::LoadU(du, block.arg.data() + i);
    for (std::size_t r = 0; r < rows; ++r) {
      const auto value = hn::LoadU(d, row + static_cast<std::ptrdiff_t>(r) * stride + i);
      const auto greater = above<is_half>(d, value, best);
      best = hn::IfThenElse(greater, value, best);
      arg = hn::IfThenElse(hn::RebindMask(du, greater),
                           hn::Set(du, static_cast<Arg>(first_arg + r)), arg);
    }
    hn::StoreU(best, d, block.best.data() + i);
    hn::StoreU(arg, du, block.arg.data() + i);
  }
}

// Calls use(i) for each i of [0, count) with a[i] > b[i]; whole vectors without one are skipped.
template <class T, class Use>
HWY_INLINE void for_each_greater(const T* a, const T* b, std::size_t count, Use use) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    if (HWY_LIKELY(hn::AllFalse(d, hn::Gt(hn::LoadU(d, a + i), hn::LoadU(d, b + i))))) continue;
    for (std::size_t j = i; j < i + lanes; ++j) {
      if (a[j] > b[j]) use(j);
    }
  }
  for (; i < count; ++i) {
    if (a[i] > b[i]) use(i);
  }
}

// The value below the smallest passing one. `all`: there is none, every anchor passes.
template <class T>
struct Floor {
  T value;
  bool all;
};

template <class T>
Floor<T> floor_below(T least) {
  if constexpr (std::is_floating_point_v<T>) {
    return {std::nextafter(least, -std::numeric_limits<T>::infinity()), false};
  } else {
    if (least == std::numeric_limits<T>::min()) return {least, true};
    return {static_cast<T>(least - 1), false};
  }
}

template <bool is_half, class T>
HWY_INLINE void scan_block(const T* row, std::ptrdiff_t stride, std::size_t classes,
                           std::size_t first_anchor, std::size_t count, Floor<T> floor,
                           Block<T>& block, std::vector<Hit>& hits) {
  constexpr std::size_t chunk = sizeof(T) == 1 ? 256 : sizeof(T) == 2 ? 65536 : 1ULL << 31;
  for (std::size_t i = 0; i < count; ++i) {
    block.best[i] = floor.all ? row[i] : floor.value;
    block.label[i] = 0;
  }
  std::copy_n(block.best.data(), count, block.settled.data());
  for (std::size_t base = 0; base < classes; base += chunk) {
    const std::size_t end = std::min(classes, base + chunk);
    std::size_t c = base;
    for (; c + row_group <= end; c += row_group) {
      sweep_rows<is_half>(row + static_cast<std::ptrdiff_t>(c) * stride, stride, c - base,
                          row_group, count, block);
    }
    for (; c < end; ++c) {
      sweep_rows<is_half>(row + static_cast<std::ptrdiff_t>(c) * stride, stride, c - base, 1, count,
                          block);
    }
    for_each_greater(block.best.data(), block.settled.data(), count, [&](std::size_t i) {
      block.label[i] = static_cast<std::int32_t>(base + block.arg[i]);
      block.settled[i] = block.best[i];
    });
  }
  const auto emit = [&](std::size_t i) {
    hits.push_back({static_cast<std::uint32_t>(first_anchor + i), block.label[i],
                    raw_as_float<is_half>(block.best[i])});
  };
  if (floor.all) {
    for (std::size_t i = 0; i < count; ++i)
      emit(i);
    return;
  }
  std::fill_n(block.settled.data(), count, floor.value);
  for_each_greater(block.best.data(), block.settled.data(), count, emit);
}

// [4 + C, N]. anchors >= lanes.
template <bool is_half, class T>
void scan_columns(const T* data, std::ptrdiff_t stride, std::size_t anchors, std::size_t classes,
                  T least, std::vector<Hit>& hits) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  constexpr std::size_t step = block_bytes / sizeof(T);
  const Floor<T> floor = floor_below(least);
  Block<T> block;
  for (std::size_t start = 0; start < anchors;) {
    std::size_t count = std::min(step, anchors - start);
    const std::size_t rest = anchors - start - count;
    if (rest < lanes) count += rest;  // no block is shorter than a vector
    scan_block<is_half>(data + start, stride, classes, start, count, floor, block, hits);
    start += count;
  }
}

// Whether one of row[0, classes) passes; classes >= Lanes(d).
template <bool is_half, class D, class T>
HWY_INLINE bool any_above(D d, const T* row, std::size_t classes, T floor) {
  const std::size_t lanes = hn::Lanes(d);
  const auto least = hn::Set(d, floor);
  auto any = hn::FirstN(d, 0);
  for (std::size_t start = 0; start < classes; start += lanes) {
    const std::size_t i = std::min(start, classes - lanes);
    any = hn::Or(any, above<is_half>(d, hn::LoadU(d, row + i), least));
  }
  return !hn::AllFalse(d, any);
}

// [N, 4 + C]. D holds no more lanes than there are classes.
template <bool is_half, class D, class T>
void scan_rows(D d, const T* data, std::ptrdiff_t stride, std::size_t anchors, std::size_t classes,
               T least, std::vector<Hit>& hits) {
  const Floor<T> floor = floor_below(least);
  for (std::size_t a = 0; a < anchors; ++a) {
    const T* row = data + static_cast<std::ptrdiff_t>(a) * stride;
    if (!floor.all && HWY_LIKELY(!any_above<is_half>(d, row, classes, floor.value))) continue;
    T best = floor.all ? row[0] : floor.value;
    std::size_t label = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      if (!(row[c] > best)) continue;
      if (is_half && static_cast<std::int32_t>(row[c]) > half_infinity) continue;  // NaN
      best = row[c];
      label = c;
    }
    hits.push_back({static_cast<std::uint32_t>(a), static_cast<std::int32_t>(label),
                    raw_as_float<is_half>(best)});
  }
}

// False when this grid is not for vectors: odd strides, or less than a vector of anchors.
template <class T>
bool scan(const ScoreGrid& grid, T least, std::vector<Hit>& hits) {
  using Lane = typename Stored<T>::Lane;
  constexpr bool is_half = Stored<T>::is_half;
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(Lane));
  const hn::ScalableTag<Lane> d;
  const hn::CappedTag<Lane, 16 / sizeof(Lane)> quarter;
  Lane lowest;
  if constexpr (is_half) {
    if (least.bits == 0) return false;  // -0.0 would pass; not worth a vector
    lowest = static_cast<Lane>(least.bits);
  } else {
    lowest = least;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(grid.data);
  if (address % sizeof(Lane) != 0) return false;
  const auto* data = reinterpret_cast<const Lane*>(grid.data);
  if (grid.anchor_stride_bytes == size && grid.class_stride_bytes % size == 0 &&
      grid.anchors >= hn::Lanes(d)) {
    scan_columns<is_half>(data, grid.class_stride_bytes / size, grid.anchors, grid.classes, lowest,
                          hits);
    return true;
  }
  if (grid.class_stride_bytes != size || grid.anchor_stride_bytes % size != 0) return false;
  const std::ptrdiff_t stride = grid.anchor_stride_bytes / size;
  if (grid.classes >= hn::Lanes(d)) {
    scan_rows<is_half>(d, data, stride, grid.anchors, grid.classes, lowest, hits);
    return true;
  }
  if (grid.classes >= hn::Lanes(quarter)) {
    scan_rows<is_half>(quarter, data, stride, grid.anchors, grid.classes, lowest, hits);
    return true;
  }
  return false;
}

bool scan_f32(const ScoreGrid& grid, float least, std::vector<Hit>& hits) {
  return scan(grid, least, hits);
}
bool scan_f16(const ScoreGrid& grid, Half least, std::vector<Hit>& hits) {
  return scan(grid, least, hits);
}
bool scan_i8(const ScoreGrid& grid, std::int8_t least, std::vector<Hit>& hits) {
  return scan(grid, least, hits);
}
bool scan_u8(const ScoreGrid& grid, std::uint8_t least, std::vector<Hit>& hits) {
  return scan(grid, least, hits);
}
bool scan_i16(const ScoreGrid& grid, std::int16_t least, std::vector<Hit>& hits) {
  return scan(grid, least, hits);
}
bool scan_u16(const ScoreGrid& grid, std::uint16_t least, std::vector<Hit>& hits) {
  return scan(grid, least, hits);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::decode
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::decode {
namespace {

HWY_EXPORT(scan_f32);
HWY_EXPORT(scan_f16);
HWY_EXPORT(scan_i8);
HWY_EXPORT(scan_u8);
HWY_EXPORT(scan_i16);
HWY_EXPORT(scan_u16);

template <class T>
bool scan_vectors(const ScoreGrid& grid, T least, std::vector<Hit>& hits) {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(scan_f32)(grid, least, hits);
  } else if constexpr (std::is_same_v<T, Half>) {
    return HWY_DYNAMIC_DISPATCH(scan_f16)(grid, least, hits);
  } else if constexpr (std::is_same_v<T, std::int8_t>) {
    return HWY_DYNAMIC_DISPATCH(scan_i8)(grid, least, hits);
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return HWY_DYNAMIC_DISPATCH(scan_u8)(grid, least, hits);
  } else if constexpr (std::is_same_v<T, std::int16_t>) {
    return HWY_DYNAMIC_DISPATCH(scan_i16)(grid, least, hits);
  } else {
    return HWY_DYNAMIC_DISPATCH(scan_u16)(grid, least, hits);
  }
}

}  // namespace

template <class T>
void scan_classes(const ScoreGrid& grid, T least, std::vector<Hit>& hits) {
  if (!scan_vectors(grid, least, hits)) scan_classes_plain(grid, least, hits);
}

template void scan_classes(const ScoreGrid&, float, std::vector<Hit>&);
template void scan_classes(const ScoreGrid&, Half, std::vector<Hit>&);
template void scan_classes(const ScoreGrid&, std::int8_t, std::vector<Hit>&);
template void scan_classes(const ScoreGrid&, std::uint8_t, std::vector<Hit>&);
template void scan_classes(const ScoreGrid&, std::int16_t, std::vector<Hit>&);
template void scan_classes(const ScoreGrid&, std::uint16_t, std::vector<Hit>&);

}  // namespace halyard::decode
#endif
