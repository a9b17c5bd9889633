// SPDX-License-Identifier: Apache-2.0
// The past of one track in OC-SORT.
#include "track/observations.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace halyard::track {
namespace {

// acos for x in [0, 1], error below 2e-8: Abramowitz and Stegun, 4.4.46. The system's acos may
// differ in its last bits between processors, which could decide between two pairs.
double acos_of(double x) noexcept {
  constexpr double a[] = {1.5707963050, -0.2145988016, 0.0889789874, -0.0501743046,
                          0.0308918810, -0.0170881256, 0.0066700901, -0.0012624911};
  double sum = a[7];
  for (int i = 6; i >= 0; --i)
    sum = sum * x + a[i];
  return std::sqrt(1 - x) * sum;
}

Box between(const Box& a, const Box& b, double share) noexcept {
  const auto mix = [share](float from, float to) {
    return static_cast<float>(from + (static_cast<double>(to) - from) * share);
  };
  return {mix(a.x1, b.x1), mix(a.y1, b.y1), mix(a.x2, b.x2), mix(a.y2, b.y2)};
}

}  // namespace

Direction direction_between(const Box& from, const Box& to) noexcept {
  const double x = (static_cast<double>(to.x1) + to.x2 - from.x1 - from.x2) / 2;
  const double y = (static_cast<double>(to.y1) + to.y2 - from.y1 - from.y2) / 2;
  const double length = std::sqrt(x * x + y * y);
  if (!(length > 0)) return {};
  return {x / length, y / length};
}

double agreement(const Direction& a, const Direction& b) noexcept {
  const double cosine = std::clamp(a.x * b.x + a.y * b.y, -1.0, 1.0);
  const double half = 0.5 - acos_of(std::abs(cosine)) / std::numbers::pi;
  return cosine < 0 ? -half : half;
}

Observed::Observed(const Box& box) noexcept : filter_(box), at_last_(filter_), last_(box) {
  past_[0] = {box, 0};
}

void Observed::predict(double dt) noexcept {
  filter_.predict(dt);
  ++frame_;
  ++missed_;
  dt_since_ += dt;
}

const Box& Observed::before(std::uint32_t frames) const noexcept {
  for (std::uint64_t back = frames; back >= 1; --back) {
    if (back > frame_) continue;
    const Seen& seen = past_[(frame_ - back) % max_frames];
    if (seen.frame == frame_ - back) return seen.box;
  }
  return last_;
}

void Observed::see(const Box& box, std::uint32_t direction_frames) noexcept {
  direction_ = direction_between(before(direction_frames), box);
  if (missed_ > 1) {
    update_again(box);
  } else {
    filter_.correct(box);
  }
  past_[frame_ % max_frames] = {box, frame_};
  last_ = box;
  at_last_ = filter_;
  dt_since_ = 0;
  missed_ = 0;
}

void Observed::update_again(const Box& box) noexcept {
  filter_ = at_last_;
  for (std::uint32_t step = 1; step <= missed_; ++step) {
    filter_.predict(dt_since_ / missed_);
    filter_.correct(between(last_, box, static_cast<double>(step) / missed_));
  }
}

}  // namespace halyard::track
