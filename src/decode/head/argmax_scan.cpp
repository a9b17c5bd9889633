// SPDX-License-Identifier: Apache-2.0
// Finds the best class of each anchor with vectors; compiled for each target, chosen at run time.
// Values are compared as stored (16-bit floats as int16 ordinals): no arithmetic, no overflow.
// [4 + C, N]: rows are swept over a block of anchors whose running best stays in the L1 cache. The
// best starts just below the threshold: eight rows without a hit cost eight loads and one branch.
// [N, 4 + C]: looks for any passing value, then for the maximum, then for its first class.
#include "decode/head/argmax_scan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/head/argmax_scan.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "decode/head/scan_reference.h"
#include "decode/head/stored_lanes-inl.h"
#include "decode/head/stored_types.h"

HWY_BEFORE_NAMESPACE();
namespace halyard::decode {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t block_bytes = 4096;  // of one row; whole pages for the prefetcher
constexpr std::size_t row_group = 8;

// key > best; false for NaN.
template <class S, class D, class V>
HWY_INLINE hn::Mask<D> above(D d, V key, V best) {
  return S::without_nan(d, key, hn::Gt(key, best));
}

// Running best of one block of anchors. `arg` is an index in a chunk of classes whose size fits its
// lanes. `settled` is the best of all chunks before, `label` its class.
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

// Updates the best of anchors [0, count), count >= Lanes(d), from rows at row + r * stride. The
// last vector overlaps the one before. Reading values twice changes nothing, because only strictly
// greater ones count.
template <class S, class T>
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
      const auto key = S::key(d, row + static_cast<std::ptrdiff_t>(r) * stride + i);
      any = hn::Or(any, hn::Gt(key, best));
    }
    if (HWY_LIKELY(hn::AllFalse(d, any))) continue;
    auto arg = hn::LoadU(du, block.arg.data() + i);
    for (std::size_t r = 0; r < rows; ++r) {
      const auto key = S::key(d, row + static_cast<std::ptrdiff_t>(r) * stride + i);
      const auto greater = above<S>(d, key, best);
      best = hn::IfThenElse(greater, key, best);
      arg = hn::IfThenElse(hn::RebindMask(du, greater),
                           hn::Set(du, static_cast<Arg>(first_arg + r)), arg);
    }
    hn::StoreU(best, d, block.best.data() + i);
    hn::StoreU(arg, du, block.arg.data() + i);
  }
}

// Calls use(i) for each i of [0, count) with a[i] > b[i]. Skips whole vectors without one.
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

// The largest value that does not pass. `all`: there is none, every anchor passes.
template <class T>
struct Floor {
  T value;
  bool all;
};

template <class T>
Floor<T> floor_below(T minimum) {
  if constexpr (std::is_floating_point_v<T>) {
    return {std::nextafter(minimum, -std::numeric_limits<T>::infinity()), false};
  } else {
    if (minimum == std::numeric_limits<T>::min()) return {minimum, true};
    return {static_cast<T>(minimum - 1), false};
  }
}

template <class S, class T>
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
      sweep_rows<S>(row + static_cast<std::ptrdiff_t>(c) * stride, stride, c - base, row_group,
                    count, block);
    }
    for (; c < end; ++c) {
      sweep_rows<S>(row + static_cast<std::ptrdiff_t>(c) * stride, stride, c - base, 1, count,
                    block);
    }
    for_each_greater(block.best.data(), block.settled.data(), count, [&](std::size_t i) {
      block.label[i] = static_cast<std::int32_t>(base + block.arg[i]);
      block.settled[i] = block.best[i];
    });
  }
  const auto emit = [&](std::size_t i) {
    const T stored = row[block.label[i] * stride + static_cast<std::ptrdiff_t>(i)];
    hits.push_back(
        {static_cast<std::uint32_t>(first_anchor + i), block.label[i], S::to_real(stored)});
  };
  if (floor.all) {
    for (std::size_t i = 0; i < count; ++i)
      emit(i);
    return;
  }
  std::fill_n(block.settled.data(), count, floor.value);
  for_each_greater(block.best.data(), block.settled.data(), count, emit);
}

// Scans [4 + C, N]; anchors >= lanes.
template <class S, class T>
void scan_columns(const T* data, std::ptrdiff_t stride, std::size_t anchors, std::size_t classes,
                  T minimum, std::vector<Hit>& hits) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  constexpr std::size_t step = block_bytes / sizeof(T);
  const Floor<T> floor = floor_below(minimum);
  Block<T> block;
  for_each_block(anchors, step, lanes, [&](std::size_t start, std::size_t count) HWY_ATTR {
    scan_block<S>(data + start, stride, classes, start, count, floor, block, hits);
  });
}

// Calls use(i, key) for vectors that cover [0, count). count >= Lanes(d): the last one can overlap.
template <class S, class D, class T, class Use>
HWY_INLINE void for_each_vector(D d, const T* row, std::size_t count, Use use) {
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t start = 0; start < count; start += lanes) {
    const std::size_t i = std::min(start, count - lanes);
    use(i, S::key(d, row + i));
  }
}

template <class D, class V>
HWY_INLINE hn::TFromD<D> greatest_lane(D d, V value) {
  if constexpr (sizeof(hn::TFromD<D>) > 1) {
    return hn::GetLane(hn::MaxOfLanes(d, value));
  } else {  // not available for all vectors
    alignas(64) std::array<hn::TFromD<D>, hn::MaxLanes(D())> lanes;
    hn::Store(value, d, lanes.data());
    hn::TFromD<D> maximum = lanes[0];
    for (std::size_t i = 0; i < hn::Lanes(d); ++i)
      maximum = std::max(maximum, lanes[i]);
    return maximum;
  }
}

// Index of the first maximum of row[0, classes). At least one key must be >= floor.
template <class S, class D, class T>
HWY_INLINE std::size_t best_of_row(D d, const T* row, std::size_t classes, T floor) {
  auto best = hn::Set(d, floor);
  for_each_vector<S>(d, row, classes, [&](std::size_t, auto key) HWY_ATTR {
    best = hn::IfThenElse(above<S>(d, key, best), key, best);
  });
  const auto maximum = hn::Set(d, greatest_lane(d, best));
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t start = 0;; start += lanes) {
    const std::size_t i = std::min(start, classes - lanes);
    const auto at = hn::FindFirstTrue(d, hn::Eq(S::key(d, row + i), maximum));
    if (at >= 0) return i + static_cast<std::size_t>(at);
  }
}

// Scans [N, 4 + C]. D has at most as many lanes as there are classes.
template <class S, class D, class T>
void scan_rows(D d, const T* data, std::ptrdiff_t stride, std::size_t anchors, std::size_t classes,
               T minimum, std::vector<Hit>& hits) {
  const Floor<T> floor = floor_below(minimum);
  const auto lowest = hn::Set(d, floor.value);
  for (std::size_t a = 0; a < anchors; ++a) {
    const T* row = data + static_cast<std::ptrdiff_t>(a) * stride;
    auto any = hn::FirstN(d, 0);
    for_each_vector<S>(d, row, classes, [&](std::size_t, auto key) HWY_ATTR {
      any = hn::Or(any, above<S>(d, key, lowest));
    });
    if (HWY_LIKELY(hn::AllFalse(d, any)) && !floor.all) continue;
    const std::size_t label = best_of_row<S>(d, row, classes, floor.value);
    hits.push_back(
        {static_cast<std::uint32_t>(a), static_cast<std::int32_t>(label), S::to_real(row[label])});
  }
}

template <class S, class Lane>
bool scan_lanes(const ScoreGrid& grid, Lane minimum, std::vector<Hit>& hits) {
  return in_vectors<Lane>(
      grid,
      [&](const Lane* data, std::ptrdiff_t stride) {
        scan_columns<S>(data, stride, grid.anchors, grid.classes, minimum, hits);
      },
      [&](auto d, const Lane* data, std::ptrdiff_t stride) {
        scan_rows<S>(d, data, stride, grid.anchors, grid.classes, minimum, hits);
      });
}

template <class T>
bool scan(const ScoreGrid& grid, T minimum, std::vector<Hit>& hits) {
  const auto key = Stored<T>::key_of(minimum);
  if constexpr (std::is_same_v<T, float>) {
    if (minimum == -std::numeric_limits<T>::infinity()) return false;  // no value lies below
  }
  if constexpr (Stored<T>::is_short_float) {
    if (key > 0) return scan_lanes<Stored<T, true>>(grid, key, hits);
  }
  return scan_lanes<Stored<T>>(grid, key, hits);
}

#define HALYARD_SCAN(name, T)                                                  \
  bool scan_##name(const ScoreGrid& grid, T minimum, std::vector<Hit>& hits) { \
    return scan(grid, minimum, hits);                                          \
  }
HALYARD_STORED_TYPES(HALYARD_SCAN)
#undef HALYARD_SCAN

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::decode
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::decode {
namespace {

#define HALYARD_SCAN(name, T)                                              \
  HWY_EXPORT(scan_##name);                                                 \
  bool vectors(const ScoreGrid& grid, T minimum, std::vector<Hit>& hits) { \
    return HWY_DYNAMIC_DISPATCH(scan_##name)(grid, minimum, hits);         \
  }
HALYARD_STORED_TYPES(HALYARD_SCAN)
#undef HALYARD_SCAN

}  // namespace

template <class T>
void scan_argmax(const ScoreGrid& grid, T minimum, std::vector<Hit>& hits) {
  if (!vectors(grid, minimum, hits)) scan_argmax_reference(grid, minimum, hits);
}

#define HALYARD_SCAN(name, T) template void scan_argmax(const ScoreGrid&, T, std::vector<Hit>&);
HALYARD_STORED_TYPES(HALYARD_SCAN)
#undef HALYARD_SCAN

}  // namespace halyard::decode
#endif
