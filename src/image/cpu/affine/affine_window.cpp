// SPDX-License-Identifier: Apache-2.0
// Makes filter taps around any position.
#include "image/cpu/affine/affine_window.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "image/cpu/resample/filter_kernel.h"

namespace halyard::image {
namespace {

constexpr double window_tie = 1e-9;  // samples

AffineWindow single(std::int32_t sample, float* weights) noexcept {
  weights[0] = 1;
  return {sample, 1};
}

AffineWindow normalised(const AffineAxis& axis, double centre, AffineWindow w,
                        float* weights) noexcept {
  float sum = 0;
  for (std::int32_t i = 0; i < w.count; ++i)
    sum += weights[i];
  if (sum == 0) return single(sample_under(axis, centre), weights);
  for (std::int32_t i = 0; i < w.count; ++i)
    weights[i] /= sum;
  return w;
}

}  // namespace

std::int32_t sample_under(const AffineAxis& axis, double centre) noexcept {
  return std::clamp(static_cast<std::int32_t>(centre + window_tie), axis.lowest, axis.highest - 1);
}

AffineKernel::AffineKernel(Filter filter, bool antialias) : filter_(filter), antialias_(antialias) {
  const Kernel kernel{filter, antialias};
  support_ = kernel.support();
  if (filter == Filter::nearest || filter == Filter::box) return;
  if (!antialias) {
    make_phases();
    return;
  }
  for (int i = 0; i <= static_cast<int>(support_) * steps; ++i)
    table_.push_back(kernel(static_cast<double>(i) / steps));
  table_.push_back(0);
}

void AffineKernel::make_phases() {
  const Kernel kernel{filter_, antialias_};
  const auto reach = static_cast<int>(support_);
  for (int phase = 0; phase <= steps; ++phase) {
    std::array<double, max_fixed_taps> weight{};
    double sum = 0;
    for (int t = 0; t < 2 * reach; ++t) {
      const double behind = static_cast<double>(phase) / steps;
      weight[static_cast<std::size_t>(t)] = kernel(t - reach + 1 - behind);
      sum += weight[static_cast<std::size_t>(t)];
    }
    for (int t = 0; t < 2 * reach; ++t)
      phases_.push_back(static_cast<float>(weight[static_cast<std::size_t>(t)] / sum));
  }
}

double AffineKernel::widening(const AffineAxis& axis) const noexcept {
  return antialias_ ? std::max(axis.scale, 1.0) : 1.0;
}

bool AffineKernel::takes_nearest(const AffineAxis& axis) const noexcept {
  return filter_ == Filter::nearest || (filter_ == Filter::box && widening(axis) == 1);
}

// At the edges, leaving samples out and repeating the edge sample give the same result.
bool AffineKernel::takes_two(const AffineAxis& axis) const noexcept {
  return filter_ == Filter::bilinear && widening(axis) == 1;
}

std::size_t AffineKernel::max_taps(const AffineAxis& axis) const noexcept {
  const double within = axis.highest - axis.lowest;
  return static_cast<std::size_t>(std::min(2 * support_ * widening(axis) + 2, within));
}

double AffineKernel::at(double x) const noexcept {
  if (filter_ == Filter::box) return x > -0.5 + window_tie && x <= 0.5 + window_tie ? 1 : 0;
  const double place = std::abs(x) * steps;
  const auto i = static_cast<std::size_t>(place);
  if (i + 1 >= table_.size()) return 0;
  const double rest = place - static_cast<double>(i);
  return table_[i] + (table_[i + 1] - table_[i]) * rest;
}

AffineWindow AffineKernel::window(const AffineAxis& axis, double centre,
                                  float* weights) const noexcept {
  if (takes_nearest(axis)) return single(sample_under(axis, centre), weights);
  return antialias_ ? left_out(axis, centre, weights) : repeated(axis, centre, weights);
}

AffineWindow AffineKernel::repeated(const AffineAxis& axis, double centre,
                                    float* weights) const noexcept {
  const auto taps = static_cast<std::int32_t>(2 * support_);
  const double place = centre + 0.5;  // plus one sample, so that truncation works as floor
  const auto next = static_cast<std::int32_t>(place);
  const double phase = (place - next) * steps;
  const auto i = static_cast<std::int32_t>(phase);
  const auto rest = static_cast<float>(phase - i);
  const float* from = &phases_[static_cast<std::size_t>(i * taps)];
  std::array<float, max_fixed_taps> weight{};
  for (std::size_t t = 0; t < static_cast<std::size_t>(taps); ++t)
    weight[t] = from[t] + (from[t + static_cast<std::size_t>(taps)] - from[t]) * rest;
  const std::int32_t begin = next - taps / 2;
  AffineWindow w;
  w.first = std::clamp(begin, axis.lowest, axis.highest - 1);
  w.count = std::clamp(begin + taps - 1, axis.lowest, axis.highest - 1) - w.first + 1;
  if (w.count == taps) {
    std::copy_n(weight.begin(), taps, weights);
    return w;
  }
  std::fill_n(weights, w.count, 0.0F);
  for (std::int32_t t = 0; t < taps; ++t) {
    const std::int32_t sample = std::clamp(begin + t, w.first, w.first + w.count - 1);
    weights[sample - w.first] += weight[static_cast<std::size_t>(t)];
  }
  return w;
}

AffineWindow AffineKernel::left_out(const AffineAxis& axis, double centre,
                                    float* weights) const noexcept {
  const double wide = widening(axis);
  const double reach = support_ * wide + window_tie;
  const auto within = [&](double sample) {
    return static_cast<std::int32_t>(
        std::clamp(sample, static_cast<double>(axis.lowest), static_cast<double>(axis.highest)));
  };
  AffineWindow w;
  w.first = within(std::ceil(centre - reach - 0.5));
  w.count = within(std::floor(centre + reach - 0.5) + 1) - w.first;
  if (w.count <= 0) return single(sample_under(axis, centre), weights);
  for (std::int32_t i = 0; i < w.count; ++i)
    weights[i] = static_cast<float>(at((w.first + i + 0.5 - centre) / wide));
  return normalised(axis, centre, w, weights);
}

}  // namespace halyard::image
