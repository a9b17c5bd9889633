// SPDX-License-Identifier: Apache-2.0
// What a plan means for each channel: filter axes over the source, and where results land.
#pragma once

#include <cstdint>

#include "image/channels.h"
#include "image/cpu/resample/taps.h"
#include "image/plan.h"

namespace halyard::image {

/// Samples of one channel that the crop touches, both ends checked against the plane.
struct SampleRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t count() const noexcept { return end - begin; }
};

/// Axes of one channel in the source's own directions. Outputs along x count the content's columns,
/// or its rows when the plan swaps axes.
struct ChannelAxes {
  SampleRange columns;
  SampleRange rows;
  AxisRequest x;
  AxisRequest y;
};

/// Samples that a channel of the source has along both axes, from the format alone.
Size channel_extent(const ImageSpec& image, const ChannelSite& site) noexcept;
ChannelAxes channel_axes(const Plan& plan, const ChannelSite& site) noexcept;

/// Rows and columns of the content as the source has them: before an exchange of axes.
inline std::int32_t content_rows(const Plan& plan) noexcept {
  return plan.swaps_axes() ? plan.content.width : plan.content.height;
}
inline std::int32_t content_columns(const Plan& plan) noexcept {
  return plan.swaps_axes() ? plan.content.height : plan.content.width;
}

}  // namespace halyard::image
