// SPDX-License-Identifier: Apache-2.0
// Finds the period of an axis in integers.
#include "image/cpu/resample/period.h"

#include <cmath>
#include <numeric>

#include "image/cpu/resample/taps.h"

namespace halyard::image {
namespace {

constexpr double unit = 1 << 16;
constexpr std::int32_t min_length = 32;

bool is_exact(double value) noexcept {
  const double units = value * unit;
  return units == std::floor(units) && std::abs(units) < 0x1p47;
}

}  // namespace

Positions positions_of(const AxisRequest& r) noexcept {
  Positions at;
  at.length = r.length;
  at.whole = 2.0 * r.outputs;
  at.mirrored = r.mirrored;
  if (!r.mirrored) {
    at.begin = r.begin;
    at.lowest = r.lowest;
    at.highest = r.highest;
    return at;
  }
  const double extent = std::ceil(r.begin + r.length);
  at.begin = extent - (r.begin + r.length);
  at.lowest = extent - r.highest;
  at.highest = extent - r.lowest;
  at.reflect = extent - 1;
  return at;
}

AxisPeriod period_of(const AxisRequest& r, double reach) noexcept {
  if (!is_exact(r.begin) || !is_exact(r.length)) return {};
  const auto length = static_cast<std::int64_t>(r.length * unit);
  const std::int64_t whole = std::int64_t{r.outputs} << 16;
  const std::int64_t common = std::gcd(length, whole);
  if (whole / common > r.outputs / 2) return {};
  const auto outputs = static_cast<std::int32_t>(whole / common);
  const std::int32_t times = (min_length + outputs - 1) / outputs;
  const Positions at = positions_of(r);
  // Leaves out one more output at either end than the windows that an edge cuts.
  const auto output_at = [&](double centre) {
    return std::clamp((centre - at.begin) * r.outputs / r.length, 0.0, 1.0 * r.outputs);
  };
  AxisPeriod period;
  period.begin = static_cast<std::int32_t>(std::ceil(output_at(at.lowest + reach))) + 1;
  period.end = static_cast<std::int32_t>(std::floor(output_at(at.highest - reach))) - 1;
  period.length = outputs * times;
  if (period.end - period.begin < 2 * period.length) return {};
  const auto advance = static_cast<std::int32_t>(length / common * times);
  period.advance = r.mirrored ? -advance : advance;
  return period;
}

}  // namespace halyard::image
