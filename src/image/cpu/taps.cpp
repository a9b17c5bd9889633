// SPDX-License-Identifier: Apache-2.0
// Builds filter taps in double precision, in the direction of the flipped axis.
#include "image/cpu/taps.h"

#include <algorithm>
#include <cmath>

#include "image/cpu/filter_kernel.h"

namespace halyard::image {
namespace {

// Taps of one output before they are packed: weights of samples first, first + 1, ...
struct Window {
  std::int64_t first = 0;
  std::vector<double> weight;
};

// The axis in its own direction: mirrored ones are reflected about whole samples first, so that the
// flip comes before the fit for `nearest` too.
struct Axis {
  double begin;
  double scale;
  std::int64_t lowest;
  std::int64_t highest;
  std::int64_t reflect;  // sample i was reflect - i; 0 unless mirrored
  bool mirrored;
};

Axis directed(const AxisRequest& r) {
  const double scale = r.length / r.outputs;
  if (!r.mirrored) return {r.begin, scale, r.lowest, r.highest, 0, false};
  const auto extent = static_cast<std::int64_t>(std::ceil(r.begin + r.length));
  return {static_cast<double>(extent) - (r.begin + r.length),
          scale,
          extent - r.highest,
          extent - r.lowest,
          extent - 1,
          true};
}

void nearest_window(const Axis& axis, double centre, Window& w) {
  const auto sample = static_cast<std::int64_t>(std::floor(centre));
  w.first = std::clamp(sample, axis.lowest, axis.highest - 1);
  w.weight.assign(1, 1.0);
}

// Two-sided kernel of fixed width; weights that fall outside go to the edge sample.
void clamped_window(const Axis& axis, double centre, const Kernel& kernel, Window& w) {
  const double support = kernel.support();
  const double position = centre - 0.5;
  const auto begin = static_cast<std::int64_t>(std::floor(position - support)) + 1;
  const auto end = static_cast<std::int64_t>(std::floor(position + support));
  w.first = std::clamp(begin, axis.lowest, axis.highest - 1);
  const std::int64_t last = std::clamp(end, axis.lowest, axis.highest - 1);
  w.weight.assign(static_cast<std::size_t>(last - w.first + 1), 0.0);
  for (std::int64_t i = begin; i <= end; ++i) {
    const std::int64_t sample = std::clamp(i, w.first, last);
    w.weight[static_cast<std::size_t>(sample - w.first)] +=
        kernel(static_cast<double>(i) - position);
  }
}

// Kernel widened when shrinking; what falls outside is left out.
void widened_window(const Axis& axis, double centre, const Kernel& kernel, Window& w) {
  const double widening = std::max(axis.scale, 1.0);
  const double support = kernel.support() * widening;
  w.first = std::max(static_cast<std::int64_t>(std::floor(centre - support + 0.5)), axis.lowest);
  w.first = std::min(w.first, axis.highest - 1);
  std::int64_t end =
      std::min(static_cast<std::int64_t>(std::floor(centre + support + 0.5)), axis.highest);
  end = std::max(end, w.first + 1);
  w.weight.clear();
  for (std::int64_t i = w.first; i < end; ++i) {
    w.weight.push_back(kernel((static_cast<double>(i) - centre + 0.5) / widening));
  }
}

void normalise(Window& w) {
  double sum = 0;
  for (const double weight : w.weight)
    sum += weight;
  if (sum == 0) {  // a box between two samples can miss both
    w.weight.assign(1, 1.0);
    return;
  }
  for (double& weight : w.weight)
    weight /= sum;
}

double centre_of(const AxisRequest& r, const Axis& axis, std::int32_t x) noexcept {
  // Divided last, so that a centre on the border of two samples is exactly there.
  return axis.begin + (2.0 * x + 1) * r.length / (2.0 * r.outputs);
}

void make_window(const AxisRequest& r, const Axis& axis, std::int32_t x, Window& w) {
  const double centre = centre_of(r, axis, x);
  const Kernel kernel{r.filter, r.antialias};
  if (r.filter == Filter::nearest || (r.filter == Filter::box && !r.antialias)) {
    nearest_window(axis, centre, w);
    return;
  }
  if (r.antialias) {
    widened_window(axis, centre, kernel, w);
  } else {
    clamped_window(axis, centre, kernel, w);
  }
  normalise(w);
}

// What make_window gives for bilinear of two samples, without its vectors: plans are made while
// frames wait.
void make_two_taps(const AxisRequest& r, const Axis& axis, AxisTaps& out) {
  for (std::int32_t x = 0; x < r.outputs; ++x) {
    const double position = centre_of(r, axis, x) - 0.5;
    const double floor = std::floor(position);
    std::int64_t first = static_cast<std::int64_t>(floor);
    double second = position - floor;
    if (first < axis.lowest) {
      first = axis.lowest;
      second = 0;
    } else if (first > axis.highest - 2) {
      first = axis.highest - 2;
      second = 1;
    }
    if (axis.mirrored) {
      first = axis.reflect - (first + 1);
      second = 1 - second;
    }
    const auto at = static_cast<std::size_t>(x);
    out.first[at] = static_cast<std::int32_t>(first);
    out.weight[2 * at] = static_cast<float>(1 - second);
    out.weight[2 * at + 1] = static_cast<float>(second);
  }
}

std::int32_t most_taps(const AxisRequest& r, double scale) {
  if (r.filter == Filter::nearest || (r.filter == Filter::box && !r.antialias)) return 1;
  const double support = Kernel{r.filter, r.antialias}.support();
  const double reach = r.antialias ? support * std::max(scale, 1.0) : support;
  const auto taps =
      static_cast<std::int32_t>(r.antialias ? std::ceil(2 * reach) + 1 : std::ceil(2 * reach));
  return std::min(taps, r.highest - r.lowest);
}

}  // namespace

void make_taps(const AxisRequest& r, AxisTaps& out) {
  const Axis axis = directed(r);
  out.count = most_taps(r, axis.scale);
  const auto outputs = static_cast<std::size_t>(r.outputs);
  out.first.assign(outputs, 0);
  out.weight.assign(outputs * static_cast<std::size_t>(out.count), 0.0F);
  if (r.filter == Filter::bilinear && !r.antialias && out.count == 2)
    return make_two_taps(r, axis, out);
  Window w;
  for (std::int32_t x = 0; x < r.outputs; ++x) {
    make_window(r, axis, x, w);
    if (axis.mirrored) {
      w.first = axis.reflect - (w.first + static_cast<std::int64_t>(w.weight.size()) - 1);
      std::reverse(w.weight.begin(), w.weight.end());
    }
    // Near the upper edge the window moves left, so that `count` samples can always be read.
    const std::int64_t first = std::min<std::int64_t>(w.first, r.highest - out.count);
    const auto shift = static_cast<std::size_t>(w.first - first);
    out.first[static_cast<std::size_t>(x)] = static_cast<std::int32_t>(first);
    float* weight = &out.weight[static_cast<std::size_t>(x) * static_cast<std::size_t>(out.count)];
    for (std::size_t t = 0; t < w.weight.size(); ++t) {
      if (shift + t < static_cast<std::size_t>(out.count)) {
        weight[shift + t] = static_cast<float>(w.weight[t]);
      }
    }
  }
}

}  // namespace halyard::image
