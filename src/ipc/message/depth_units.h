// SPDX-License-Identifier: Apache-2.0
// The meaning of a depth image's numbers: metres, units, and which of them are valid.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "halyard/depth_image.h"
#include "ipc/message/depth_kernels.h"

namespace halyard::ipc {

/// metres = unit * scale / 1000 in double, then rounded to float. Monotonic in the unit.
class DepthUnits {
 public:
  explicit DepthUnits(const DepthImageMetadata& m) noexcept
      : meters_per_unit_(static_cast<double>(m.depth_scale) / 1000),
        units_per_meter_(1000 / static_cast<double>(m.depth_scale)),
        low_(std::max(m.min_depth, std::numeric_limits<float>::denorm_min())),
        high_(std::min(m.max_depth, std::numeric_limits<float>::max())) {}

  float low() const noexcept { return low_; }    ///< the least valid depth in metres, above 0
  float high() const noexcept { return high_; }  ///< the greatest valid depth in metres
  /// False for NaN, 0 and depths outside the range.
  bool is_valid(float meters) const noexcept { return meters >= low_ && meters <= high_; }
  float meters(std::uint16_t unit) const noexcept {
    return static_cast<float>(static_cast<double>(unit) * meters_per_unit_);
  }
  /// The nearest whole number of units, halves up; not limited to 65535.
  double units(float meters) const noexcept {
    return std::floor(static_cast<double>(meters) * units_per_meter_ + 0.5);
  }
  DepthRule rule() const noexcept { return {meters_per_unit_, units_per_meter_, low_, high_}; }
  /// The first unit of 1..65535 that is at least `minimum` metres away; 65536 if there is none.
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
