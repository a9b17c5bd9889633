// SPDX-License-Identifier: Apache-2.0
// Derives from a plan, for each channel, the filter axes over the source and the places of the
// results.
#pragma once

#include <cstdint>

#include "image/channels.h"
#include "image/cpu/resample/taps.h"
#include "image/plan.h"

namespace halyard::image {

/// Samples of one channel that the crop touches; both ends are checked against the plane.
struct SampleRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t count() const noexcept { return end - begin; }
};

/// Axes of one channel in the source's own directions. Outputs along x are the content's columns,
/// or its rows where the plan swaps axes.
struct ChannelAxes {
  SampleRange columns;
  SampleRange rows;
  AxisRequest x;
  AxisRequest y;
};

/// Number of samples that a channel of the source has along both axes; depends on the format and
/// size only.
Size channel_extent(const ImageSpec& image, const ChannelSite& site) noexcept;
ChannelAxes channel_axes(const Plan& plan, const ChannelSite& site) noexcept;

/// Rows and columns of the content in the source's directions: before axes are swapped.
inline std::int32_t content_rows(const Plan& plan) noexcept {
  return plan.swaps_axes() ? plan.content.width : plan.content.height;
}
inline std::int32_t content_columns(const Plan& plan) noexcept {
  return plan.swaps_axes() ? plan.content.height : plan.content.width;
}

}  // namespace halyard::image
