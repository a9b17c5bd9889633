// SPDX-License-Identifier: Apache-2.0
// Finds the period and the common denominator of an axis.
#include "image/cpu/resample/rational_axis.h"

#include <algorithm>
#include <cmath>

#include "image/cpu/resample/fixed_taps.h"

namespace halyard::image {
namespace {

// Weights are floats; one that is not a multiple differs from it by much more than this.
constexpr double weight_error = 1e-4;

bool has_positive_weights(Filter filter) noexcept {
  return filter == Filter::nearest || filter == Filter::bilinear || filter == Filter::box;
}

// Finds the shortest period in which an axis advances by whole samples.
bool set_period(const AxisRequest& r, RationalAxis& axis) noexcept {
  for (std::int32_t period = 1; period <= RationalAxis::max_period; period *= 2) {
    const double stride = r.length * period / r.outputs;
    if (stride != std::floor(stride) || stride < 1 || stride > 64) continue;
    axis.period = period;
    axis.stride = static_cast<std::int32_t>(stride);
    return stride * r.outputs == r.length * period;
  }
  return false;
}

std::int32_t denominator(const std::vector<float>& weights) noexcept {
  for (std::int32_t d = 1; d <= RationalAxis::max_sum; ++d) {
    const auto is_whole = [d](float weight) {
      const double part = static_cast<double>(weight) * d;
      return std::abs(part - std::round(part)) < weight_error;
    };
    if (std::all_of(weights.begin(), weights.end(), is_whole)) return d;
  }
  return 0;
}

// Sets the weights of one output, without the zeros at its ends.
bool set_weights_of(std::span<const float> weights, std::size_t x, RationalAxis& axis) noexcept {
  const auto whole = [&](float weight) {
    return static_cast<std::int32_t>(std::lround(static_cast<double>(weight) * axis.sum));
  };
  while (weights.size() > 1 && whole(weights.front()) == 0) {
    weights = weights.subspan(1);
    ++axis.first[x];
  }
  while (weights.size() > 1 && whole(weights.back()) == 0)
    weights = weights.first(weights.size() - 1);
  if (weights.size() > static_cast<std::size_t>(RationalAxis::max_taps)) return false;
  axis.taps = std::max(axis.taps, static_cast<std::int32_t>(weights.size()));
  std::int32_t sum = 0;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    const std::int32_t weight = whole(weights[t]);
    if (weight < 0 || weight > 127) return false;
    axis.weights[x][t] = static_cast<std::int8_t>(weight);
    sum += weight;
  }
  return sum == axis.sum;
}

bool set_weights(const AxisTaps& taps, RationalAxis& axis) noexcept {
  axis.sum = denominator(taps.weight);
  if (axis.sum == 0) return false;
  for (std::size_t x = 0; x < taps.first.size(); ++x) {
    axis.first[x] = taps.first[x];
    if (!set_weights_of(weights_of(taps, x), x, axis)) return false;
  }
  return true;
}

// Whether all outputs except the first and the last lie within [lowest, highest).
bool only_ends_reach_out(const RationalAxis& axis) noexcept {
  if (axis.outputs < 3) return false;
  const std::int32_t last = axis.outputs - 2;
  const std::int32_t behind = axis.first_of(last) + axis.taps;
  return axis.first_of(1) >= axis.lowest && behind <= axis.highest &&
         axis.first_of(0) + axis.taps > axis.lowest && axis.first_of(last + 1) < axis.highest;
}

}  // namespace

std::int32_t RationalAxis::sum_of(std::int32_t x) const noexcept {
  if (repeats) return sum;
  std::int32_t counted = 0;
  for (std::int32_t t = 0; t < taps; ++t) {
    const std::int32_t sample = first_of(x) + t;
    if (sample >= lowest && sample < highest) counted += weights_of(x)[static_cast<std::size_t>(t)];
  }
  return counted;
}

std::optional<RationalAxis> make_rational_axis(const AxisRequest& request) {
  RationalAxis axis;
  if (!has_positive_weights(request.filter) || request.mirrored || !set_period(request, axis))
    return std::nullopt;
  axis.lowest = request.lowest;
  axis.highest = request.highest;
  axis.outputs = request.outputs;
  axis.repeats = !request.antialias || request.filter == Filter::nearest;
  AxisRequest period = request;  // one period, without edges
  period.length = axis.stride;
  period.outputs = axis.period;
  constexpr std::int32_t far = 1 << 20;
  period.lowest = -far;
  period.highest = far;
  AxisTaps taps;
  make_taps(period, taps);
  if (!set_weights(taps, axis) || !only_ends_reach_out(axis)) return std::nullopt;
  return axis;
}

}  // namespace halyard::image
