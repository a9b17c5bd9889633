// SPDX-License-Identifier: Apache-2.0
// Destinations between guard bytes, for tests of code that writes into them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "image/cpu/cpu_program.h"
#include "image/plan.h"

namespace halyard::test {

using image::ChannelSite;
using image::MappedImages;
using image::Plan;
using image::TargetChannel;
using image::ValueMap;

inline constexpr std::size_t guard = 80;
inline constexpr std::byte untouched{0xA5};

/// A destination in its own memory, each plane between guard bytes.
struct Target {
  std::array<std::vector<std::byte>, 4> planes;
  MappedImages frame;

  Target(const Plan& plan, std::size_t extra) {
    const std::size_t sample = size_of(plan.dst.dtype);
    const Size size = plan.dst.size;
    std::array<std::size_t, 4> stride{};
    for (std::size_t c = 0; c < plan.dst.channels->count; ++c) {
      const ChannelSite& site = plan.dst.channels->sites[c];
      TargetChannel& to = frame.target[c];
      to.shift_x = site.shift_x;
      to.shift_y = site.shift_y;
      to.columns = (size.width + (1 << site.shift_x) - 1) >> site.shift_x;
      to.rows = (size.height + (1 << site.shift_y) - 1) >> site.shift_y;
      to.step_bytes = site.step * sample;
      stride[site.plane] = std::max(stride[site.plane],
                                    static_cast<std::size_t>(to.columns) * to.step_bytes + extra);
    }
    for (std::size_t c = 0; c < plan.dst.channels->count; ++c) {
      const ChannelSite& site = plan.dst.channels->sites[c];
      TargetChannel& to = frame.target[c];
      to.stride_bytes = stride[site.plane];
      auto& plane = planes[site.plane];
      plane.resize(2 * guard + static_cast<std::size_t>(to.rows) * to.stride_bytes, untouched);
      to.base = plane.data() + guard + site.offset * sample;
    }
    if (plan.bgr) std::swap(frame.target[0], frame.target[2]);
  }

  /// The first place where `other` differs from this, with both values; empty if there is none.
  std::string difference(const Target& other) const {
    for (std::size_t p = 0; p < planes.size(); ++p) {
      const auto [wanted, found] =
          std::mismatch(planes[p].begin(), planes[p].end(), other.planes[p].begin());
      if (wanted == planes[p].end()) continue;
      return "plane " + std::to_string(p) + " byte " + std::to_string(wanted - planes[p].begin()) +
             " is " + std::to_string(std::to_integer<int>(*found)) + ", must be " +
             std::to_string(std::to_integer<int>(*wanted));
    }
    return {};
  }
};

/// A plan with only the fields that writers read.
inline Plan plan_of(PixelFormat format, DType dtype, Size size, const ValueMap& values) {
  Plan plan;
  plan.dst.format = format;
  plan.dst.dtype = dtype;
  plan.dst.size = size;
  plan.dst.channels = image::channel_map(format);
  plan.values = values;
  return plan;
}

}  // namespace halyard::test
