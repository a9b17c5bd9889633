// SPDX-License-Identifier: Apache-2.0
// From exact taps to integers, without idle taps.
#include <algorithm>

#include "image/cpu/kernels/resample/antialias_taps.h"
#include "image/cpu/resample/fixed_taps.h"
#include "image/cpu/resample/fixed_weights.h"

namespace halyard::image {
namespace {

constexpr int bits = AcrossTable::weight_bits;
constexpr std::int16_t one = 1 << bits;

}  // namespace

std::int32_t FixedTaps::count(std::size_t x) const noexcept {
  auto end = static_cast<std::size_t>(taps);
  while (end > 1 && tap(end - 1)[x] == 0)
    --end;
  return static_cast<std::int32_t>(end);
}

FixedTaps::FixedTaps(const AxisTaps& from, std::int32_t begin)
    : outputs(static_cast<std::int32_t>(from.first.size())),
      planes(static_cast<std::size_t>((from.count + 1) / 2 * 2)),
      first(std::make_unique_for_overwrite<std::int32_t[]>(from.first.size())),
      weights(std::make_unique_for_overwrite<std::int16_t[]>(from.first.size() * planes)) {
  const auto known = static_cast<std::size_t>(from.count);
  const auto fixed = std::make_unique_for_overwrite<std::int32_t[]>(known);
  for_own_outputs(from.period, outputs, [&](std::int32_t x_begin, std::int32_t x_end) {
    for (auto x = static_cast<std::size_t>(x_begin); x < static_cast<std::size_t>(x_end); ++x) {
      to_fixed(weights_of(from, x), bits, {fixed.get(), known});
      std::size_t end = known;
      while (end > 1 && fixed[end - 1] == 0)
        --end;
      std::size_t idle = 0;
      while (idle + 1 < end && fixed[idle] == 0)
        ++idle;
      for (std::size_t t = 0; t < planes; ++t)
        tap(t)[x] = idle + t < end ? static_cast<std::int16_t>(fixed[idle + t]) : std::int16_t{0};
      first[x] = from.first[x] - begin + static_cast<std::int32_t>(idle);
      taps = std::max(taps, static_cast<std::int32_t>(end - idle));
    }
  });
  repeat(from.period, from.period.advance, first.get());
  for (std::size_t t = 0; t < planes; ++t)
    repeat(from.period, std::int16_t{0}, tap(t));
}

FixedTaps::FixedTaps(const AxisRequest& axis, std::int32_t begin) : outputs(axis.outputs) {
  const auto count = static_cast<std::size_t>(outputs);
  first = std::make_unique_for_overwrite<std::int32_t[]>(count + two_taps_spare);
  if (is_nearest(axis)) {
    set_nearest(axis);
  } else if (image::is_between(axis)) {
    set_between(axis);
  } else {
    set_triangles(axis);
  }
  if (begin == 0) return;
  for (std::size_t x = 0; x < count; ++x)
    first[x] -= begin;
}

void FixedTaps::set_nearest(const AxisRequest& axis) {
  is_between = true;
  weights = std::make_unique_for_overwrite<std::int16_t[]>(2 * static_cast<std::size_t>(outputs));
  const AxisPeriod period = period_of(axis, 1);
  for_own_outputs(period, outputs, [&](std::int32_t begin, std::int32_t end) {
    nearest_samples(positions_of(axis), begin, end, first.get());
  });
  repeat(period, period.advance, first.get());
  std::fill_n(tap(0), outputs, one);
  std::fill_n(tap(1), outputs, std::int16_t{0});
}

void FixedTaps::set_between(const AxisRequest& axis) {
  const auto count = static_cast<std::size_t>(outputs);
  is_between = true;
  weights = std::make_unique_for_overwrite<std::int16_t[]>(2 * count);
  const auto second = std::make_unique_for_overwrite<std::int32_t[]>(count + two_taps_spare);
  const AxisPeriod period = period_of(axis, 1);
  const Positions at = positions_of(axis);
  for_own_outputs(period, outputs, [&](std::int32_t begin, std::int32_t end) {
    two_taps(at, begin, end, bits, true, {first.get(), second.get()});
  });
  repeat(period, period.advance, first.get());
  repeat(period, 0, second.get());
  std::int32_t any = 0;
  for (std::size_t x = 0; x < count; ++x) {
    any |= second[x];
    tap(0)[x] = static_cast<std::int16_t>(one - second[x]);
    tap(1)[x] = static_cast<std::int16_t>(second[x]);
  }
  taps = any != 0 ? 2 : 1;
}

void FixedTaps::set_triangles(const AxisRequest& axis) {
  const auto count = static_cast<std::size_t>(outputs);
  const std::int32_t most = most_taps(axis);
  planes = static_cast<std::size_t>((most + 1) / 2 * 2);
  weights = std::make_unique_for_overwrite<std::int16_t[]>(planes * count);
  const AxisPeriod period = period_of(axis, reach_of(axis));
  const Positions at = positions_of(axis);
  TrianglesOut out;
  out.first = first.get();
  out.fixed = weights.get();
  out.stride = count;
  for_own_outputs(period, outputs, [&](std::int32_t begin, std::int32_t end) {
    triangles(at, begin, end, most, out);
  });
  repeat(period, period.advance, first.get());
  if (most % 2 != 0) std::fill_n(tap(planes - 1), count, std::int16_t{0});
  for (std::int32_t t = 0; t < most; ++t) {
    std::int16_t* plane = tap(static_cast<std::size_t>(t));
    repeat(period, std::int16_t{0}, plane);
    if (std::any_of(plane, plane + count, [](std::int16_t weight) { return weight != 0; }))
      taps = t + 1;
  }
}

}  // namespace halyard::image
