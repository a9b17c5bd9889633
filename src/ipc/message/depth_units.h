// SPDX-License-Identifier: Apache-2.0
// What the numbers of a depth image mean: metres, units, and which of them are measurements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "halyard/depth_image.h"
#include "ipc/message/depth_kernels.h"

namespace halyard::ipc {

/// metres = unit * scale / 1000 in double, then rounded to float: never falls as units grow.
class DepthUnits {
 public:
  explicit DepthUnits(const DepthImageMetadata& m) noexcept
      : meters_per_unit_(static_cast<double>(m.depth_scale) / 1000),
        units_per_meter_(1000 / static_cast<double>(m.depth_scale)),
        low_(std::max(m.min_depth, std::numeric_limits<float>::denorm_min())),
        high_(std::min(m.max_depth, std::numeric_limits<float>::max())) {}

  float low() const noexcept { return low_; }    ///< the least valid depth, metres, above 0
  float high() const noexcept { return high_; }  ///< the greatest
  /// False for NaN, 0 and what lies outside the range.
  bool is_valid(float meters) const noexcept { return meters >= low_ && meters <= high_; }
  float meters(std::uint16_t unit) const noexcept {
    return static_cast<float>(static_cast<double>(unit) * meters_per_unit_);
  }
  /// The nearest whole number of units, halves up; any number of them.
  double units(float meters) const noexcept {
    return std::floor(static_cast<double>(meters) * units_per_meter_ + 0.5);
  }
  DepthRule rule() const noexcept { return {meters_per_unit_, units_per_meter_, low_, high_}; }
  /// The first unit of 1..65536 that is not nearer than `minimum` metres.
  std::uint32_t first_unit(float minimum) const noexcept {
    std::uint32_t begin = 1;
    std::uint32_t end = 65536;
    while (begin < end) {
      const std::uint32_t middle = (begin + end) / 2;
      if (meters(static_cast<std::uint16_t>(middle)) < minimum) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }

 private:
  double meters_per_unit_;
  double units_per_meter_;
  float low_;
  float high_;
};

}  // namespace halyard::ipc
