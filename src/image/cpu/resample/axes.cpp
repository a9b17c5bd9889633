// SPDX-License-Identifier: Apache-2.0
// Derives filter axes from the geometry of a plan.
#include "image/cpu/resample/axes.h"

#include <algorithm>
#include <cmath>

namespace halyard::image {
namespace {

// Samples that cover [begin, begin + length) of image coordinates.
SampleRange samples_of(double begin, double length, double samples, std::int32_t held) noexcept {
  const auto last = static_cast<std::int32_t>(std::ceil((begin + length) * samples)) - 1;
  const std::int32_t end = std::min(last, held - 1);
  return {std::clamp(static_cast<std::int32_t>(std::floor(begin * samples)), 0, end), end + 1};
}

AxisRequest axis(double begin, double length, double samples, SampleRange range) {
  AxisRequest request;
  request.begin = begin * samples;
  request.length = length * samples;
  request.lowest = range.begin;
  request.highest = range.end;
  return request;
}

}  // namespace

Size channel_extent(const ImageSpec& image, const ChannelSite& site) noexcept {
  const auto rounded_up = [](std::int32_t extent, unsigned shift) {
    return (extent + (1 << shift) - 1) >> shift;
  };
  return {rounded_up(image.size.width, site.shift_x), rounded_up(image.size.height, site.shift_y)};
}

ChannelAxes channel_axes(const Plan& plan, const ChannelSite& site) noexcept {
  const Size extent = channel_extent(plan.src, site);
  const RegionF& crop = plan.crop;
  const double scale_x = 1.0 / (1 << site.shift_x);
  const double scale_y = 1.0 / (1 << site.shift_y);
  ChannelAxes axes;
  axes.columns = samples_of(crop.x, crop.width, scale_x, extent.width);
  axes.rows = samples_of(crop.y, crop.height, scale_y, extent.height);
  axes.x = axis(crop.x, crop.width, scale_x, axes.columns);
  axes.y = axis(crop.y, crop.height, scale_y, axes.rows);
  axes.x.outputs = plan.swaps_axes() ? plan.content.height : plan.content.width;
  axes.y.outputs = plan.swaps_axes() ? plan.content.width : plan.content.height;
  axes.x.mirrored = plan.mirrors_columns();
  axes.y.mirrored = plan.mirrors_rows();
  const bool subsampled = site.shift_x != 0 || site.shift_y != 0;
  const bool replicated = subsampled && plan.replicates_chroma;
  axes.x.filter = axes.y.filter = replicated ? Filter::nearest : plan.filter;
  axes.x.antialias = axes.y.antialias = plan.antialias && !replicated;
  return axes;
}

}  // namespace halyard::image
