// SPDX-License-Identifier: Apache-2.0
// Converts exact taps to integers and drops taps of weight 0 at the ends.
#include <algorithm>

#include "image/cpu/kernels/resample/antialias_taps.h"
#include "image/cpu/resample/fixed_taps.h"

namespace halyard::image {
namespace {

constexpr int bits = HorizontalTable::weight_bits;
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
  first = std::make_unique_for_overwrite<std::int32_t[]>(count + linear_taps_spare);
  if (is_nearest(axis)) {
    set_nearest(axis);
  } else if (image::is_between(axis)) {
    set_between(axis);
  } else {
    set_antialias(axis);
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
  const auto second = std::make_unique_for_overwrite<std::int32_t[]>(count + linear_taps_spare);
  const AxisPeriod period = period_of(axis, 1);
  const Positions at = positions_of(axis);
  for_own_outputs(period, outputs, [&](std::int32_t begin, std::int32_t end) {
    linear_taps(at, begin, end, bits, true, {first.get(), second.get()});
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

void FixedTaps::set_antialias(const AxisRequest& axis) {
  const auto count = static_cast<std::size_t>(outputs);
  const std::int32_t maximum = max_taps(axis);
  planes = static_cast<std::size_t>((maximum + 1) / 2 * 2);
  weights = std::make_unique_for_overwrite<std::int16_t[]>(planes * count);
  const AxisPeriod period = period_of(axis, reach_of(axis));
  const Positions at = positions_of(axis);
  AntialiasTapsOut out;
  out.first = first.get();
  out.fixed = weights.get();
  out.stride = count;
  for_own_outputs(period, outputs, [&](std::int32_t begin, std::int32_t end) {
    antialias_taps(at, begin, end, maximum, out);
  });
  repeat(period, period.advance, first.get());
  if (maximum % 2 != 0) std::fill_n(tap(planes - 1), count, std::int16_t{0});
  for (std::int32_t t = 0; t < maximum; ++t) {
    std::int16_t* plane = tap(static_cast<std::size_t>(t));
    repeat(period, std::int16_t{0}, plane);
    if (std::any_of(plane, plane + count, [](std::int16_t weight) { return weight != 0; }))
      taps = t + 1;
  }
}

namespace {

// Rounds halves away from 0, without a function call.
std::int32_t rounded_weight(double value) noexcept {
  return static_cast<std::int32_t>(value < 0 ? value - 0.5 : value + 0.5);
}

}  // namespace

void to_fixed(std::span<const float> weights, int bits, std::span<std::int32_t> out) {
  const double one = static_cast<double>(1 << bits);
  if (weights.size() > static_cast<std::size_t>(few_taps)) {
    double total = 0;
    for (const float w : weights)
      total += static_cast<double>(w);
    double sum = 0;
    std::int32_t before = 0;
    for (std::size_t t = 0; t < weights.size(); ++t) {
      sum += static_cast<double>(weights[t]);
      const auto until = rounded_weight(sum / total * one);
      out[t] = until - before;
      before = until;
    }
    return;
  }
  std::int32_t sum = 0;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    out[t] = rounded_weight(static_cast<double>(weights[t]) * one);
    sum += out[t];
  }
  *std::max_element(out.begin(), out.end()) += (1 << bits) - sum;
}

}  // namespace halyard::image
