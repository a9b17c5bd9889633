// SPDX-License-Identifier: Apache-2.0
// PNG's row filters on u8, undone and applied. All sums and differences are modulo 256, as PNG
// defines them, so no overflow can harm; every target gives the same bytes. Paeth's predictor needs
// more range: unfiltering uses i16 (-510..765), filtering uses u8 distances that saturate.
// Average and Paeth depend on the pixel before, so they handle one pixel per step; their speed is
// the number of instructions from one pixel to the next.
#include "codec/png/png_filter.h"

#include <cstring>

// Use the portable target instead of the one-lane target, which cannot shuffle.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/png/png_filter.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h first: it includes this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halyard::codec {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Row = hn::CappedTag<std::uint8_t, png_row_slack>;
using Block = hn::Full128<std::uint8_t>;
using Pixel = hn::Full64<std::uint8_t>;  // up to 8 bytes

void unfilter_up(std::size_t row_bytes, const std::uint8_t* in, const std::uint8_t* above,
                 std::uint8_t* out) {
  const Row d;
  for (std::size_t i = 0; i < row_bytes; i += hn::Lanes(d))
    hn::StoreU(hn::Add(hn::LoadU(d, in + i), hn::LoadU(d, above + i)), d, out + i);
}

// Adds to each byte those `step`, 2 `step`, ... before it, in the first `group` bytes of a block.
template <std::size_t step, std::size_t group, class V>
HWY_INLINE V running_sums(V v) {
  if constexpr (step < group) {
    return running_sums<2 * step, group>(hn::Add(v, hn::ShiftLeftBytes<step>(v)));
  } else {
    return v;
  }
}

template <std::size_t pixel_bytes>
void unfilter_sub(std::size_t row_bytes, const std::uint8_t* in, std::uint8_t* out) {
  const Block d;
  // The whole pixels of a block. The bytes after them are overwritten by the next group.
  constexpr std::size_t group = 16 / pixel_bytes * pixel_bytes;
  HWY_ALIGN std::uint8_t last[16];
  for (std::size_t i = 0; i < 16; ++i)
    last[i] = static_cast<std::uint8_t>(group - pixel_bytes + i % pixel_bytes);
  const auto last_pixel = hn::Load(d, last);
  auto sum = hn::Zero(d);
  for (std::size_t i = 0; i < row_bytes; i += group) {
    const auto here = running_sums<pixel_bytes, group>(hn::LoadU(d, in + i));
    sum = hn::Add(here, hn::TableLookupBytes(sum, last_pixel));
    hn::StoreU(sum, d, out + i);
  }
}

// The average instruction rounds up: (x + y + 1) / 2. Applied to complements it gives the
// complement of the floor that PNG wants: ~out = average(~left, ~above) - in. That is two
// instructions from one pixel to the next.
void unfilter_average(std::size_t pixel_bytes, std::size_t row_bytes, const std::uint8_t* in,
                      const std::uint8_t* above, std::uint8_t* out) {
  const Pixel d;
  auto left = hn::Not(hn::Zero(d));
  for (std::size_t i = 0; i < row_bytes; i += pixel_bytes) {
    const auto up = hn::Not(hn::LoadU(d, above + i));
    left = hn::Sub(hn::AverageRound(left, up), hn::LoadU(d, in + i));
    hn::StoreU(hn::Not(left), d, out + i);
  }
}

// Paeth's predictor of left a, above b and above left c. With t = 3c - a - b it is max(a, b) if
// t <= min(a, b), min(a, b) if t >= max(a, b), else c. 16 bits hold t: -510 <= t <= 765.
template <class V>
HWY_INLINE V predict_in_words(V a, V b, V c) {
  const auto t = hn::Sub(hn::Sub(hn::Add(c, hn::Add(c, c)), b), a);
  const auto minimum = hn::Min(a, b);
  const auto maximum = hn::Max(a, b);
  const auto low_or_corner = hn::IfThenElse(hn::Gt(maximum, t), c, minimum);
  return hn::IfThenElse(hn::Gt(t, minimum), low_or_corner, maximum);
}

void unfilter_paeth(std::size_t pixel_bytes, std::size_t row_bytes, const std::uint8_t* in,
                    const std::uint8_t* above, std::uint8_t* out) {
  const Pixel d8;
  const hn::Full128<std::int16_t> d;
  const auto load = [&](const std::uint8_t* at) { return hn::PromoteTo(d, hn::LoadU(d8, at)); };
  const auto low_byte = hn::Set(d, 0xFF);
  auto a = hn::Zero(d);
  auto c = hn::Zero(d);
  for (std::size_t i = 0; i < row_bytes; i += pixel_bytes) {
    const auto b = load(above + i);
    a = hn::And(hn::Add(predict_in_words(a, b, c), load(in + i)), low_byte);
    c = b;
    hn::StoreU(hn::DemoteTo(d8, a), d8, out + i);
  }
}

}  // namespace

// The lower half of the vectors is a pixel of the first row. The upper half is the pixel before it
// in the second row: its above is the lower half of the previous step, its corner that of two steps
// before.
void UnfilterPaethPair(std::size_t pixel_bytes, std::size_t row_bytes,
                       const std::uint8_t* const (&in)[2], const std::uint8_t* above,
                       std::uint8_t* const (&out)[2]) {
  const hn::Full32<std::uint8_t> d8;
  const hn::Full64<std::int16_t> half;
  const hn::Full128<std::int16_t> d;
  const auto load = [&](const std::uint8_t* at) { return hn::PromoteTo(half, hn::LoadU(d8, at)); };
  const auto low_byte = hn::Set(d, 0xFF);
  auto a = hn::Zero(d);
  auto c = hn::Zero(d);
  // Returns the decoded pixels of both rows, the first row's in the lower bytes.
  const auto step = [&](std::size_t i, auto second) {
    const auto b = hn::Combine(d, hn::LowerHalf(a), load(above + i));
    const auto raw = hn::Combine(d, second, load(in[0] + i));
    a = hn::And(hn::Add(predict_in_words(a, b, c), raw), low_byte);
    c = b;
    const auto bytes = hn::DemoteTo(Pixel(), a);
    return hn::GetLane(hn::BitCast(hn::Full64<std::uint64_t>(), bytes));
  };
  const auto store = [](std::uint64_t pixel, std::uint8_t* to) {
    const auto four = static_cast<std::uint32_t>(pixel);
    std::memcpy(to, &four, sizeof four);
  };
  store(step(0, hn::Zero(half)), out[0]);
  // One step more than there are pixels, for the last pixel of the second row.
  for (std::size_t i = pixel_bytes; i <= row_bytes; i += pixel_bytes) {
    const std::uint64_t pixels = step(i, load(in[1] + i - pixel_bytes));
    store(pixels, out[0] + i);
    store(pixels >> 32, out[1] + i - pixel_bytes);
  }
}

namespace {

// The bytes that filters read: `here`, and its neighbours left, above and above left (corner).
template <class V>
struct Neighbours {
  V here, left, above, corner;
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE V distance(D, V x, V y) {
  return hn::Or(hn::SaturatedSub(x, y), hn::SaturatedSub(y, x));
}

// Paeth's predictor in u8. With left a, above b, corner c the distances of p = a + b - c are
// |b - c|, |a - c| and |(b - c) + (a - c)|. If a and b are on the same side of c, the last is the
// sum of the others, so c is not the nearest (even if the sum saturates). Otherwise it is their
// difference.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V predict_paeth(D d, const Neighbours<V>& at) {
  const V zero = hn::Zero(d);
  const V from_left = distance(d, at.above, at.corner);
  const V from_above = distance(d, at.left, at.corner);
  const auto left_is_below = hn::Eq(hn::SaturatedSub(at.left, at.corner), zero);
  const auto above_is_below = hn::Eq(hn::SaturatedSub(at.above, at.corner), zero);
  const V from_corner =
      hn::IfThenElse(hn::Xor(left_is_below, above_is_below), distance(d, from_left, from_above),
                     hn::SaturatedAdd(from_left, from_above));
  const V minimum = hn::Min(hn::Min(from_left, from_above), from_corner);
  const V rest = hn::IfThenElse(hn::Eq(from_above, minimum), at.above, at.corner);
  return hn::IfThenElse(hn::Eq(from_left, minimum), at.left, rest);
}

template <PngFilter filter, class D, class V = hn::Vec<D>>
HWY_INLINE V filtered(D d, const Neighbours<V>& at) {
  if constexpr (filter == PngFilter::sub) return hn::Sub(at.here, at.left);
  if constexpr (filter == PngFilter::up) return hn::Sub(at.here, at.above);
  if constexpr (filter == PngFilter::average) {
    // Rounded down: the complement of the complements' average, which is rounded up.
    const V mean = hn::Not(hn::AverageRound(hn::Not(at.left), hn::Not(at.above)));
    return hn::Sub(at.here, mean);
  }
  if constexpr (filter == PngFilter::paeth) return hn::Sub(at.here, predict_paeth(d, at));
  return at.here;
}

template <class D>
HWY_INLINE Neighbours<hn::Vec<D>> load_neighbours(D d, const std::uint8_t* row,
                                                  const std::uint8_t* above,
                                                  std::size_t pixel_bytes) {
  return {hn::LoadU(d, row), hn::LoadU(d, row - pixel_bytes), hn::LoadU(d, above),
          hn::LoadU(d, above - pixel_bytes)};
}

struct FilterJob {
  std::size_t pixel_bytes, row_bytes;
  const std::uint8_t* row;
  const std::uint8_t* above;
};

// Sums min(b, 256 - b), the size of byte b as a signed number, over each filter's output row.
void measure_filters(const FilterJob& job, std::uint64_t (&sums)[png_filter_count]) {
  const Row d;
  const hn::Repartition<std::uint64_t, Row> d64;
  auto none = hn::Zero(d64);
  auto sub = none, up = none, average = none, paeth = none;
  for (std::size_t i = 0; i < job.row_bytes; i += hn::Lanes(d)) {
    const auto at = load_neighbours(d, job.row + i, job.above + i, job.pixel_bytes);
    const auto inside = hn::FirstN(d, job.row_bytes - i);
    const auto add = [&](auto& sum, auto bytes) {
      const auto size = hn::Min(bytes, hn::Sub(hn::Zero(d), bytes));
      sum = hn::Add(sum, hn::SumsOf8(hn::IfThenElseZero(inside, size)));
    };
    add(none, filtered<PngFilter::none>(d, at));
    add(sub, filtered<PngFilter::sub>(d, at));
    add(up, filtered<PngFilter::up>(d, at));
    add(average, filtered<PngFilter::average>(d, at));
    add(paeth, filtered<PngFilter::paeth>(d, at));
  }
  sums[0] = hn::GetLane(hn::SumOfLanes(d64, none));
  sums[1] = hn::GetLane(hn::SumOfLanes(d64, sub));
  sums[2] = hn::GetLane(hn::SumOfLanes(d64, up));
  sums[3] = hn::GetLane(hn::SumOfLanes(d64, average));
  sums[4] = hn::GetLane(hn::SumOfLanes(d64, paeth));
}

template <PngFilter filter>
void store_filtered(const FilterJob& job, std::uint8_t* out) {
  const Row d;
  for (std::size_t i = 0; i < job.row_bytes; i += hn::Lanes(d)) {
    const auto at = load_neighbours(d, job.row + i, job.above + i, job.pixel_bytes);
    hn::StoreU(filtered<filter>(d, at), d, out + i);
  }
}

}  // namespace

void FilterRow(std::size_t pixel_bytes, std::size_t row_bytes, const std::uint8_t* row,
               const std::uint8_t* above, std::uint8_t* out) {
  const FilterJob job{pixel_bytes, row_bytes, row, above};
  std::uint64_t sums[png_filter_count];
  measure_filters(job, sums);
  std::size_t best = 0;
  for (std::size_t i = 1; i < png_filter_count; ++i) {
    if (sums[i] < sums[best]) best = i;
  }
  *out = static_cast<std::uint8_t>(best);
  switch (static_cast<PngFilter>(best)) {
    case PngFilter::none:
      return store_filtered<PngFilter::none>(job, out + 1);
    case PngFilter::sub:
      return store_filtered<PngFilter::sub>(job, out + 1);
    case PngFilter::up:
      return store_filtered<PngFilter::up>(job, out + 1);
    case PngFilter::average:
      return store_filtered<PngFilter::average>(job, out + 1);
    case PngFilter::paeth:
      return store_filtered<PngFilter::paeth>(job, out + 1);
  }
}

void UnfilterRow(PngFilter filter, std::size_t pixel_bytes, std::size_t row_bytes,
                 const std::uint8_t* in, const std::uint8_t* above, std::uint8_t* out) {
  switch (filter) {
    case PngFilter::none:
      std::memcpy(out, in, row_bytes);
      return;
    case PngFilter::up:
      unfilter_up(row_bytes, in, above, out);
      return;
    case PngFilter::average:
      unfilter_average(pixel_bytes, row_bytes, in, above, out);
      return;
    case PngFilter::paeth:
      unfilter_paeth(pixel_bytes, row_bytes, in, above, out);
      return;
    case PngFilter::sub:
      break;
  }
  switch (pixel_bytes) {
    case 1:
      return unfilter_sub<1>(row_bytes, in, out);
    case 2:
      return unfilter_sub<2>(row_bytes, in, out);
    case 3:
      return unfilter_sub<3>(row_bytes, in, out);
    case 4:
      return unfilter_sub<4>(row_bytes, in, out);
    case 6:
      return unfilter_sub<6>(row_bytes, in, out);
    default:
      return unfilter_sub<8>(row_bytes, in, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace halyard::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halyard::codec {

HWY_EXPORT(FilterRow);
HWY_EXPORT(UnfilterPaethPair);
HWY_EXPORT(UnfilterRow);

void unfilter_row(PngFilter filter, std::size_t pixel_bytes, std::size_t row_bytes,
                  const std::uint8_t* in, const std::uint8_t* above, std::uint8_t* out) noexcept {
  HWY_DYNAMIC_DISPATCH(UnfilterRow)(filter, pixel_bytes, row_bytes, in, above, out);
}

void unfilter_paeth_pair(std::size_t pixel_bytes, std::size_t row_bytes,
                         const std::uint8_t* const (&in)[2], const std::uint8_t* above,
                         std::uint8_t* const (&out)[2]) noexcept {
  HWY_DYNAMIC_DISPATCH(UnfilterPaethPair)(pixel_bytes, row_bytes, in, above, out);
}

void filter_row(std::size_t pixel_bytes, std::size_t row_bytes, const std::uint8_t* row,
                const std::uint8_t* above, std::uint8_t* out) noexcept {
  HWY_DYNAMIC_DISPATCH(FilterRow)(pixel_bytes, row_bytes, row, above, out);
}

}  // namespace halyard::codec
#endif
