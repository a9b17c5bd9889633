// SPDX-License-Identifier: Apache-2.0
// What a plan means for each channel: filter axes over the source, and where results land.
#pragma once

#include <cstdint>

#include "image/channels.h"
#include "image/cpu/taps.h"
#include "image/plan.h"

namespace halyard::image {

/// Samples of one channel that the crop touches, both ends checked against the plane.
struct SampleRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t count() const noexcept { return end - begin; }
};

/// Axes of one channel in the source's own directions. Outputs along x count the content's columns,
/// or its rows when the plan swaps axes. An empty range: the channel has no sample (128 stands in).
struct ChannelAxes {
  SampleRange columns;
  SampleRange rows;
  AxisRequest x;
  AxisRequest y;
};

ChannelAxes channel_axes(const Plan& plan, const SourceChannel& channel) noexcept;

/// Whether the source's columns (rows) run against those of the content after flip and rotation.
bool mirrors_columns(const Plan& plan) noexcept;
bool mirrors_rows(const Plan& plan) noexcept;

}  // namespace halyard::image
