// SPDX-License-Identifier: Apache-2.0
// Resampling kernels: the samples around a position that make an output, and their weights.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "image/reference/reference.h"

namespace halyard::reference {
namespace {

// Positions that are computed by a division may miss the border of two samples by the last bit.
constexpr double tie = 1e-9;

double radius(Filter filter) {
  switch (filter) {
    case Filter::bicubic:
      return 2;
    case Filter::lanczos3:
      return 3;
    case Filter::box:
      return 0.5;
    default:
      return 1;
  }
}

// Keys 1981: 1 at 0, 0 at the other integers, slope a at 1.
double cubic(double x, double a) {
  const double x2 = x * x;
  const double x3 = x2 * x;
  if (x <= 1) return (a + 2) * x3 - (a + 3) * x2 + 1;
  if (x < 2) return a * x3 - 5 * a * x2 + 8 * a * x - 4 * a;
  return 0;
}

double sinc(double x) {
  return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

double kernel(Filter filter, bool antialias, double x) {
  switch (filter) {
    case Filter::bicubic:
      return cubic(std::abs(x), antialias ? -0.5 : -0.75);
    case Filter::lanczos3:
      return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
    case Filter::box:
      return x > -0.5 + tie && x <= 0.5 + tie ? 1 : 0;
    default:
      return std::max(0.0, 1 - std::abs(x));
  }
}

// The sample that covers the position. A mirrored axis is mirrored first: the border of two samples
// then belongs to the other one.
int under(const Spot& spot) {
  const double sample =
      spot.mirrored ? std::ceil(spot.centre - tie) - 1 : std::floor(spot.centre + tie);
  return std::clamp(static_cast<int>(sample), spot.lowest, spot.highest - 1);
}

bool is_whole(double x) {
  return x == std::floor(x);
}

Taps without_idle(const Taps& all) {
  double sum = 0;
  for (const Tap& tap : all)
    sum += tap.weight;
  Taps taps;
  for (const Tap& tap : all) {
    if (std::abs(tap.weight / sum) > 1e-12) taps.push_back({tap.sample, tap.weight / sum});
  }
  return taps;
}

}  // namespace

Taps taps_at(const Spot& spot, Filter filter, bool antialias) {
  if (filter == Filter::nearest || (filter == Filter::box && !antialias))
    return {{under(spot), 1.0}};
  const double widening = antialias ? std::max(spot.scale, 1.0) : 1;
  const double reach = radius(filter) * widening + 1;
  Taps all;
  double sum = 0;
  for (int i = static_cast<int>(std::floor(spot.centre - reach));
       i <= static_cast<int>(std::ceil(spot.centre + reach)); ++i) {
    const double away = (i + 0.5 - spot.centre) / widening;
    const double weight = kernel(filter, antialias, spot.mirrored ? -away : away);
    const int sample = std::clamp(i, spot.lowest, spot.highest - 1);
    if (antialias && sample != i) continue;  // PIL: samples outside are left out
    const auto same = [&](const Tap& tap) { return tap.sample == sample; };
    const auto known = std::find_if(all.begin(), all.end(), same);
    if (known != all.end()) {
      known->weight += weight;  // OpenCV: edge samples repeat
    } else {
      all.push_back({sample, weight});
    }
    sum += weight;
  }
  if (sum == 0) return {{under(spot), 1.0}};
  return without_idle(all);
}

bool rests_on_rounding(const Spot& spot, Filter filter, bool antialias) {
  if (filter != Filter::nearest && filter != Filter::box) return false;
  if (is_whole(spot.centre * 1024) && is_whole(spot.scale * 1024)) return false;
  const bool widens = filter == Filter::box && antialias;
  const double half = widens ? std::max(spot.scale, 1.0) / 2 : 0;
  const double middle = widens ? 0.5 : 0;  // nearest jumps at borders, box at centres of samples
  for (const double edge : {spot.centre - half - middle, spot.centre + half - middle}) {
    if (std::abs(edge - std::round(edge)) < tie) return true;
  }
  return false;
}

}  // namespace halyard::reference
