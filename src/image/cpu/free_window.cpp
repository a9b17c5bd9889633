// SPDX-License-Identifier: Apache-2.0
// Filter taps about any place.
#include "image/cpu/free_window.h"

#include <algorithm>
#include <cmath>

#include "image/cpu/filter_kernel.h"

namespace halyard::image {
namespace {

constexpr double tie = 1e-9;  // samples

FreeWindow single(std::int32_t sample, float* weights) noexcept {
  weights[0] = 1;
  return {sample, 1};
}

FreeWindow normalised(const FreeAxis& axis, double centre, FreeWindow w, float* weights) noexcept {
  float sum = 0;
  for (std::int32_t i = 0; i < w.count; ++i)
    sum += weights[i];
  if (sum == 0) return single(sample_under(axis, centre), weights);
  for (std::int32_t i = 0; i < w.count; ++i)
    weights[i] /= sum;
  return w;
}

}  // namespace

std::int32_t sample_under(const FreeAxis& axis, double centre) noexcept {
  return std::clamp(static_cast<std::int32_t>(centre + tie), axis.lowest, axis.highest - 1);
}

FreeKernel::FreeKernel(Filter filter, bool antialias) : filter_(filter), antialias_(antialias) {
  const Kernel kernel{filter, antialias};
  support_ = kernel.support();
  if (filter == Filter::nearest || filter == Filter::box) return;
  for (int i = 0; i <= static_cast<int>(support_) * steps; ++i)
    table_.push_back(kernel(static_cast<double>(i) / steps));
  table_.push_back(0);
}

double FreeKernel::widening(const FreeAxis& axis) const noexcept {
  return antialias_ ? std::max(axis.scale, 1.0) : 1.0;
}

bool FreeKernel::takes_nearest(const FreeAxis& axis) const noexcept {
  return filter_ == Filter::nearest || (filter_ == Filter::box && widening(axis) == 1);
}

// At the edges what is left out and what is repeated come to the same.
bool FreeKernel::takes_two(const FreeAxis& axis) const noexcept {
  return filter_ == Filter::bilinear && widening(axis) == 1;
}

std::size_t FreeKernel::most_taps(const FreeAxis& axis) const noexcept {
  const double within = axis.highest - axis.lowest;
  return static_cast<std::size_t>(std::min(2 * support_ * widening(axis) + 2, within));
}

double FreeKernel::at(double x) const noexcept {
  if (filter_ == Filter::box) return x > -0.5 + tie && x <= 0.5 + tie ? 1 : 0;
  const double place = std::abs(x) * steps;
  const auto i = static_cast<std::size_t>(place);
  if (i + 1 >= table_.size()) return 0;
  const double rest = place - static_cast<double>(i);
  return table_[i] + (table_[i + 1] - table_[i]) * rest;
}

FreeWindow FreeKernel::window(const FreeAxis& axis, double centre, float* weights) const noexcept {
  if (takes_nearest(axis)) return single(sample_under(axis, centre), weights);
  return antialias_ ? left_out(axis, centre, weights) : repeated(axis, centre, weights);
}

FreeWindow FreeKernel::repeated(const FreeAxis& axis, double centre,
                                float* weights) const noexcept {
  const auto begin = static_cast<std::int32_t>(std::ceil(centre - support_ - 0.5));
  const auto end = static_cast<std::int32_t>(std::floor(centre + support_ - 0.5)) + 1;
  FreeWindow w;
  w.first = std::clamp(begin, axis.lowest, axis.highest - 1);
  w.count = std::clamp(end - 1, axis.lowest, axis.highest - 1) - w.first + 1;
  std::fill_n(weights, w.count, 0.0F);
  for (std::int32_t i = begin; i < end; ++i) {
    const std::int32_t sample = std::clamp(i, w.first, w.first + w.count - 1);
    weights[sample - w.first] += static_cast<float>(at(i + 0.5 - centre));
  }
  return normalised(axis, centre, w, weights);
}

FreeWindow FreeKernel::left_out(const FreeAxis& axis, double centre,
                                float* weights) const noexcept {
  const double wide = widening(axis);
  const double reach = support_ * wide + tie;
  const auto within = [&](double sample) {
    return static_cast<std::int32_t>(
        std::clamp(sample, static_cast<double>(axis.lowest), static_cast<double>(axis.highest)));
  };
  FreeWindow w;
  w.first = within(std::ceil(centre - reach - 0.5));
  w.count = within(std::floor(centre + reach - 0.5) + 1) - w.first;
  if (w.count <= 0) return single(sample_under(axis, centre), weights);
  for (std::int32_t i = 0; i < w.count; ++i)
    weights[i] = static_cast<float>(at((w.first + i + 0.5 - centre) / wide));
  return normalised(axis, centre, w, weights);
}

}  // namespace halyard::image
