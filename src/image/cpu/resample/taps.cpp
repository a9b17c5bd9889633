// SPDX-License-Identifier: Apache-2.0
// Makes filter taps in double precision, in the direction of the flipped axis.
#include "image/cpu/resample/taps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "image/cpu/kernels/resample/antialias_taps.h"
#include "image/cpu/resample/filter_kernel.h"

namespace halyard::image {
namespace {

// In samples: a position that is computed by a division may miss a border by its last bit.
constexpr double tie = 1e-9;

// Taps of one output before they are packed: the weights of samples first, first + 1, ...
struct Window {
  std::int64_t first = 0;
  std::vector<double> weight;
};

// Weighs a two-sided kernel of fixed width; weights of samples outside are added to the edge
// sample.
void clamped_window(const Positions& axis, double centre, const Kernel& kernel, Window& w) {
  const double support = kernel.support();
  const double position = centre - 0.5;
  const auto begin = static_cast<std::int64_t>(std::floor(position - support)) + 1;
  const auto end = static_cast<std::int64_t>(std::floor(position + support));
  const auto lowest = static_cast<std::int64_t>(axis.lowest);
  const auto highest = static_cast<std::int64_t>(axis.highest);
  w.first = std::clamp(begin, lowest, highest - 1);
  const std::int64_t last = std::clamp(end, lowest, highest - 1);
  w.weight.assign(static_cast<std::size_t>(last - w.first + 1), 0.0);
  for (std::int64_t i = begin; i <= end; ++i) {
    const std::int64_t sample = std::clamp(i, w.first, last);
    w.weight[static_cast<std::size_t>(sample - w.first)] +=
        kernel(static_cast<double>(i) - position);
  }
}

void normalise(Window& w) {
  double sum = 0;
  for (const double weight : w.weight)
    sum += weight;
  for (double& weight : w.weight)
    weight /= sum;
}

double centre_of(const Positions& axis, std::int32_t x) noexcept {
  // The division comes last, so that a centre on the border of two samples is exact.
  return axis.begin + (2.0 * x + 1) * axis.length / axis.whole;
}

void make_window(const AxisRequest& r, const Positions& axis, std::int32_t x, Window& w) {
  const Kernel kernel{r.filter, r.antialias};
  clamped_window(axis, centre_of(axis, x), kernel, w);
  normalise(w);
  if (!axis.mirrored) return;
  w.first = static_cast<std::int64_t>(axis.reflect) -
            (w.first + static_cast<std::int64_t>(w.weight.size()) - 1);
  std::reverse(w.weight.begin(), w.weight.end());
}

double half_width(const AxisRequest& r) noexcept {
  const double support = Kernel{r.filter, r.antialias}.support();
  return r.antialias ? support * std::max(r.length / r.outputs, 1.0) : support;
}

void make_clamped(const AxisRequest& r, std::int32_t begin, std::int32_t end, AxisTaps& out) {
  const Positions axis = positions_of(r);
  const auto count = static_cast<std::size_t>(out.count);
  Window w;
  for (std::int32_t x = begin; x < end; ++x) {
    make_window(r, axis, x, w);
    // Near the upper edge the window moves left, so that `count` samples can always be read.
    const std::int64_t first = std::min<std::int64_t>(w.first, r.highest - out.count);
    const auto shift = static_cast<std::size_t>(w.first - first);
    out.first[static_cast<std::size_t>(x)] = static_cast<std::int32_t>(first);
    float* weight = &out.weight[static_cast<std::size_t>(x) * count];
    std::fill_n(weight, count, 0.0F);
    for (std::size_t t = 0; t < w.weight.size() && shift + t < count; ++t)
      weight[shift + t] = static_cast<float>(w.weight[t]);
  }
}

std::int32_t floor_of(double value) noexcept {
  const auto whole = static_cast<std::int32_t>(value);
  return whole - (value < whole ? 1 : 0);
}

// Makes taps of kernels that widen when the axis shrinks; samples outside are left out. `kernel` is
// inlined.
template <class Weigh>
void make_widened(const AxisRequest& r, double support, const Weigh& kernel, std::int32_t begin,
                  std::int32_t end, AxisTaps& out) {
  const Positions axis = positions_of(r);
  const double widening = std::max(r.length / r.outputs, 1.0);
  const double narrowing = 1 / widening;
  const double reach = support * widening;
  const auto lowest = static_cast<std::int32_t>(axis.lowest);
  const auto highest = static_cast<std::int32_t>(axis.highest);
  std::vector<double> weights(static_cast<std::size_t>(out.count) + 2);
  for (std::int32_t x = begin; x < end; ++x) {
    const double centre = centre_of(axis, x);
    std::int32_t first = std::clamp(floor_of(centre - reach + 0.5), lowest, highest - 1);
    // A box may end within a tie of its last sample's centre.
    const std::int32_t last = std::min(floor_of(centre + reach + 0.5 + tie), highest) - 1;
    std::int32_t taps = std::clamp(last + 1 - first, 1, out.count);
    for (std::int32_t t = 0; t < taps; ++t)
      weights[static_cast<std::size_t>(t)] = kernel((first + t - centre + 0.5) * narrowing);
    double sum = 0;
    for (std::int32_t t = 0; t < taps; ++t)
      sum += weights[static_cast<std::size_t>(t)];
    if (sum == 0) {  // a box that lies between two samples can miss both
      taps = 1;
      weights[0] = sum = 1;
    }
    if (axis.mirrored) {
      first = static_cast<std::int32_t>(axis.reflect) - (first + taps - 1);
      std::reverse(weights.begin(), weights.begin() + taps);
    }
    const std::int32_t shift = std::max(first + out.count - r.highest, 0);
    out.first[static_cast<std::size_t>(x)] = first - shift;
    float* to = out.weight.data() + static_cast<std::ptrdiff_t>(x) * out.count;
    std::fill_n(to, out.count, 0.0F);
    const double share = 1 / sum;
    for (std::int32_t t = 0; t < taps; ++t)
      to[shift + t] = static_cast<float>(weights[static_cast<std::size_t>(t)] * share);
  }
}

void make_windows(const AxisRequest& r, std::int32_t begin, std::int32_t end, AxisTaps& out) {
  const Kernel kernel{r.filter, r.antialias};
  if (!r.antialias) return make_clamped(r, begin, end, out);
  if (r.filter != Filter::bilinear)
    return make_widened(r, kernel.support(), kernel, begin, end, out);
  const auto triangle = [](double x) { return std::max(0.0, 1 - std::abs(x)); };
  make_widened(r, 1, triangle, begin, end, out);
}

}  // namespace

bool is_nearest(const AxisRequest& r) noexcept {
  return r.filter == Filter::nearest || (r.filter == Filter::box && !r.antialias);
}

bool is_between(const AxisRequest& r) noexcept {
  return r.filter == Filter::bilinear && !r.antialias && r.highest - r.lowest >= 2;
}

void nearest_samples(const Positions& at, std::int32_t begin, std::int32_t end,
                     std::int32_t* first) noexcept {
  for (std::int32_t x = begin; x < end; ++x) {
    const double sample = std::clamp(std::floor(centre_of(at, x) + tie), at.lowest, at.highest - 1);
    first[x] = static_cast<std::int32_t>(at.mirrored ? at.reflect - sample : sample);
  }
}

std::int32_t max_taps(const AxisRequest& r) noexcept {
  if (is_nearest(r)) return 1;
  const double width = std::ceil(2 * half_width(r));
  return std::min(static_cast<std::int32_t>(r.antialias ? width + 1 : width), r.highest - r.lowest);
}

bool is_antialias(const AxisRequest& r) noexcept {
  return r.filter == Filter::bilinear && r.antialias && max_taps(r) <= max_antialias_taps;
}

double reach_of(const AxisRequest& r) noexcept {
  return half_width(r) + 3;  // the margin keeps out windows that move left too
}

void make_taps(const AxisRequest& r, AxisTaps& out, std::vector<std::uint16_t>* parts) {
  out.count = max_taps(r);
  out.period = period_of(r, reach_of(r));
  out.first.resize(static_cast<std::size_t>(r.outputs));
  out.weight.resize(out.first.size() * static_cast<std::size_t>(out.count));
  const bool by_antialias = is_antialias(r);
  AntialiasTapsOut all{out.first.data(), out.weight.data()};
  if (parts != nullptr && by_antialias) {
    parts->resize(out.weight.size());
    all.parts = parts->data();
  }
  for_own_outputs(out.period, r.outputs, [&](std::int32_t begin, std::int32_t end) {
    if (by_antialias) {
      antialias_taps(positions_of(r), begin, end, out.count, all);
    } else if (is_nearest(r)) {
      nearest_samples(positions_of(r), begin, end, out.first.data());
      std::fill(out.weight.begin() + begin, out.weight.begin() + end, 1.0F);
    } else {
      make_windows(r, begin, end, out);
    }
  });
  const AxisPeriod& p = out.period;
  repeat(p, p.advance, out.first.data());
  const auto weights_of = [&](std::int32_t x) {
    return out.weight.begin() + static_cast<std::ptrdiff_t>(x) * out.count;
  };
  for (std::int32_t x = p.begin + p.length; x < p.end; x += p.length) {
    const std::int32_t end = x + std::min(p.length, p.end - x);
    std::copy(weights_of(x - p.length), weights_of(end - p.length), weights_of(x));
  }
}

}  // namespace halyard::image
