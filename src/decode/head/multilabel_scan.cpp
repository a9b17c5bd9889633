// SPDX-License-Identifier: Apache-2.0
// Finds all pairs of anchor and class that reach a threshold, with vectors; compiled for each
// target, chosen at run time. Values are compared as stored: no arithmetic, no overflow. Pairs are
// usually rare: eight vectors without one cost eight loads, eight compares and one branch.
#include "decode/head/multilabel_scan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/head/multilabel_scan.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "decode/head/scan_reference.h"
#include "decode/head/stored_lanes-inl.h"
#include "decode/head/stored_types.h"

HWY_BEFORE_NAMESPACE();
namespace halyard::decode {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t row_group = 8;

// key >= minimum; false for NaN.
template <class S, class D, class V>
HWY_INLINE hn::Mask<D> reaches(D d, V key, V minimum) {
  if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
    return hn::Ge(key, minimum);
  } else {
    return S::without_nan(d, key, hn::Not(hn::Lt(key, minimum)));
  }
}

// Calls use(lane) for each lane that is set, in ascending order.
template <class D, class M, class Use>
HWY_INLINE void for_each_lane(D d, M mask, Use use) {
  std::array<std::uint8_t, 8> bytes{};  // at most 64 lanes
  hn::StoreMaskBits(d, mask, bytes.data());
  std::uint64_t bits;
  std::memcpy(&bits, bytes.data(), sizeof bits);
  for (; bits != 0; bits &= bits - 1)
    use(static_cast<std::size_t>(hwy::Num0BitsBelowLS1Bit_Nonzero64(bits)));
}

template <class T>
struct Least {
  T all;
  std::span<const std::int32_t> each;
  T of(std::size_t label) const { return each.empty() ? all : static_cast<T>(each[label]); }
};

// Appends pairs of `rows` classes from `label` on and of anchors [first, first + count), count >=
// lanes. Order: vectors, classes, lanes.
template <class S, class T>
HWY_INLINE void pairs_of_rows(const T* row, std::ptrdiff_t stride, std::size_t label,
                              std::size_t rows, std::size_t first, std::size_t count,
                              const Least<T>& minimum, std::vector<Hit>& out) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t start = 0; start < count; start += lanes) {
    const std::size_t i = std::min(start, count - lanes);
    const auto at = [&](std::size_t r) {
      return row + static_cast<std::ptrdiff_t>(r) * stride + static_cast<std::ptrdiff_t>(i);
    };
    auto any = hn::FirstN(d, 0);
    for (std::size_t r = 0; r < rows; ++r)
      any = hn::Or(any, reaches<S>(d, S::key(d, at(r)), hn::Set(d, minimum.of(label + r))));
    if (HWY_LIKELY(hn::AllFalse(d, any))) continue;
    const auto fresh = hn::Not(hn::FirstN(d, start - i));  // the last vector can overlap
    for (std::size_t r = 0; r < rows; ++r) {
      const auto pass = reaches<S>(d, S::key(d, at(r)), hn::Set(d, minimum.of(label + r)));
      for_each_lane(d, hn::And(pass, fresh), [&](std::size_t lane) {
        out.push_back({static_cast<std::uint32_t>(first + i + lane),
                       static_cast<std::int32_t>(label + r), S::to_real(at(r)[lane])});
      });
    }
  }
}

// Appends hits sorted by anchor; hits of one anchor keep their order. All anchors lie in [first,
// first + places).
template <std::size_t places>
void append_sorted(const std::vector<Hit>& from, std::size_t first, std::vector<Hit>& to) {
  std::array<std::uint32_t, places + 1> next{};
  for (const Hit& hit : from)
    ++next[hit.anchor - first + 1];
  for (std::size_t i = 1; i <= places; ++i)
    next[i] += next[i - 1];
  const std::size_t before = to.size();
  to.resize(before + from.size());
  for (const Hit& hit : from)
    to[before + next[hit.anchor - first]++] = hit;
}

// Scans [4 + C, N]; anchors >= lanes.
template <class S, class T>
void pairs_of_columns(const T* data, std::ptrdiff_t stride, std::size_t anchors,
                      std::size_t classes, const Least<T>& minimum, std::vector<Hit>& work,
                      std::vector<Hit>& hits) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  constexpr std::size_t step = 4096 / sizeof(T);
  for_each_block(anchors, step, lanes, [&](std::size_t start, std::size_t count) HWY_ATTR {
    work.clear();
    for (std::size_t c = 0; c < classes; c += row_group) {
      const std::size_t rows = std::min(row_group, classes - c);
      const T* row = data + start + static_cast<std::ptrdiff_t>(c) * stride;
      if (rows == row_group) {
        pairs_of_rows<S>(row, stride, c, row_group, start, count, minimum, work);
      } else {
        pairs_of_rows<S>(row, stride, c, rows, start, count, minimum, work);
      }
    }
    if (!work.empty()) append_sorted<step + hn::MaxLanes(hn::ScalableTag<T>())>(work, start, hits);
  });
}

// Scans [N, 4 + C]. D has at most as many lanes as there are classes. Vectors are compared with the
// smallest threshold of all classes.
template <class S, class D, class T>
void pairs_of_anchors(D d, const T* data, std::ptrdiff_t stride, std::size_t anchors,
                      std::size_t classes, const Least<T>& minimum, std::vector<Hit>& hits) {
  const std::size_t lanes = hn::Lanes(d);
  const T lowest =
      minimum.each.empty()
          ? minimum.all
          : static_cast<T>(*std::min_element(minimum.each.begin(), minimum.each.end()));
  const auto floor = hn::Set(d, lowest);
  for (std::size_t a = 0; a < anchors; ++a) {
    const T* row = data + static_cast<std::ptrdiff_t>(a) * stride;
    auto any = hn::FirstN(d, 0);
    for (std::size_t start = 0; start < classes; start += lanes)
      any = hn::Or(any, reaches<S>(d, S::key(d, row + std::min(start, classes - lanes)), floor));
    if (HWY_LIKELY(hn::AllFalse(d, any))) continue;
    for (std::size_t start = 0; start < classes; start += lanes) {
      const std::size_t i = std::min(start, classes - lanes);
      const auto pass =
          hn::And(reaches<S>(d, S::key(d, row + i), floor), hn::Not(hn::FirstN(d, start - i)));
      for_each_lane(d, pass, [&](std::size_t lane) {
        const std::size_t c = i + lane;
        if (!minimum.each.empty() && row[c] < minimum.of(c)) return;
        hits.push_back(
            {static_cast<std::uint32_t>(a), static_cast<std::int32_t>(c), S::to_real(row[c])});
      });
    }
  }
}

template <class T>
bool pairs(const ScoreGrid& grid, T minimum, std::span<const std::int32_t> each,
           std::vector<Hit>& work, std::vector<Hit>& hits) {
  using S = Stored<T>;
  using Lane = typename S::Lane;
  const Least<Lane> bound{S::key_of(minimum), each};
  return in_vectors<Lane>(
      grid,
      [&](const Lane* data, std::ptrdiff_t stride) {
        pairs_of_columns<S>(data, stride, grid.anchors, grid.classes, bound, work, hits);
      },
      [&](auto d, const Lane* data, std::ptrdiff_t stride) {
        pairs_of_anchors<S>(d, data, stride, grid.anchors, grid.classes, bound, hits);
      });
}

#define HALYARD_PAIRS(name, T)                                                            \
  bool pairs_##name(const ScoreGrid& grid, T minimum, std::span<const std::int32_t> each, \
                    std::vector<Hit>& work, std::vector<Hit>& hits) {                     \
    return pairs(grid, minimum, each, work, hits);                                        \
  }
HALYARD_STORED_TYPES(HALYARD_PAIRS)
#undef HALYARD_PAIRS

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::decode
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::decode {
namespace {

#define HALYARD_PAIRS(name, T)                                                       \
  HWY_EXPORT(pairs_##name);                                                          \
  bool vectors(const ScoreGrid& grid, T minimum, std::span<const std::int32_t> each, \
               std::vector<Hit>& work, std::vector<Hit>& hits) {                     \
    return HWY_DYNAMIC_DISPATCH(pairs_##name)(grid, minimum, each, work, hits);      \
  }
HALYARD_STORED_TYPES(HALYARD_PAIRS)
#undef HALYARD_PAIRS

}  // namespace

template <class T>
void scan_multilabel(const ScoreGrid& grid, T minimum, std::span<const std::int32_t> each,
                     std::vector<Hit>& work, std::vector<Hit>& hits) {
  if (!vectors(grid, minimum, each, work, hits))
    scan_multilabel_reference(grid, minimum, each, hits);
}

#define HALYARD_PAIRS(name, T)                                                      \
  template void scan_multilabel(const ScoreGrid&, T, std::span<const std::int32_t>, \
                                std::vector<Hit>&, std::vector<Hit>&);
HALYARD_STORED_TYPES(HALYARD_PAIRS)
#undef HALYARD_PAIRS

}  // namespace halyard::decode
#endif
