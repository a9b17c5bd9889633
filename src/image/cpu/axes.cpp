// SPDX-License-Identifier: Apache-2.0
// Filter axes from plan geometry.
#include "image/cpu/axes.h"

#include <algorithm>

namespace halyard::image {
namespace {

SampleRange samples_of(std::int32_t begin, std::int32_t length, unsigned shift,
                       std::int32_t held) noexcept {
  if (held == 0) return {};
  const std::int32_t last = std::min((begin + length - 1) >> shift, held - 1);
  return {std::min(begin >> shift, last), last + 1};
}

AxisRequest axis(std::int32_t begin, std::int32_t length, unsigned shift, SampleRange range) {
  AxisRequest request;
  const double samples = 1.0 / (1 << shift);
  request.begin = begin * samples;
  request.length = length * samples;
  request.lowest = range.begin;
  request.highest = range.end;
  return request;
}

}  // namespace

bool mirrors_columns(const Plan& plan) noexcept {
  const bool turned = plan.rotation == Rotation::cw180 || plan.rotation == Rotation::cw270;
  return (plan.flip == Flip::horizontal) != turned;
}

bool mirrors_rows(const Plan& plan) noexcept {
  const bool turned = plan.rotation == Rotation::cw90 || plan.rotation == Rotation::cw180;
  return (plan.flip == Flip::vertical) != turned;
}

ChannelAxes channel_axes(const Plan& plan, const SourceChannel& channel) noexcept {
  const Region crop = plan.crop();
  const Region content = plan.content();
  ChannelAxes axes;
  axes.columns = samples_of(crop.x, crop.width, channel.shift_x, channel.columns);
  axes.rows = samples_of(crop.y, crop.height, channel.shift_y, channel.rows);
  axes.x = axis(crop.x, crop.width, channel.shift_x, axes.columns);
  axes.y = axis(crop.y, crop.height, channel.shift_y, axes.rows);
  axes.x.outputs = plan.swaps_axes() ? content.height : content.width;
  axes.y.outputs = plan.swaps_axes() ? content.width : content.height;
  axes.x.mirrored = mirrors_columns(plan);
  axes.y.mirrored = mirrors_rows(plan);
  const bool subsampled = channel.shift_x != 0 || channel.shift_y != 0;
  const bool replicated = subsampled && plan.replicates_chroma;
  axes.x.filter = axes.y.filter = replicated ? Filter::nearest : plan.filter;
  axes.x.antialias = axes.y.antialias = plan.antialias && !replicated;
  return axes;
}

}  // namespace halyard::image
