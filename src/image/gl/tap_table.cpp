// SPDX-License-Identifier: Apache-2.0
#include "image/gl/tap_table.h"

#include <algorithm>

#include "image/cpu/resample/axes.h"
#include "image/cpu/resample/taps.h"

namespace halyard::image {
namespace {

TapRows append(const AxisRequest& axis, TapTable& table) {
  AxisTaps taps;
  make_taps(axis, taps);
  const TapRows out{table.rows, taps.count};
  const auto width = static_cast<std::size_t>(table.width);
  table.values.resize(width * static_cast<std::size_t>(table.rows + 1 + taps.count));
  float* row = table.values.data() + width * static_cast<std::size_t>(table.rows);
  for (std::size_t x = 0; x < taps.first.size(); ++x)
    row[x] = static_cast<float>(taps.first[x]);
  const auto count = static_cast<std::size_t>(taps.count);
  for (std::size_t t = 0; t < count; ++t) {
    row += width;
    for (std::size_t x = 0; x < taps.first.size(); ++x)
      row[x] = taps.weight[x * count + t];
  }
  table.rows += 1 + taps.count;
  return out;
}

}  // namespace

TapTable make_tap_table(const Plan& plan) {
  TapTable table;
  table.width = std::max(plan.content.width, plan.content.height);
  std::array<bool, 2> is_done{};
  for (std::size_t c = 0; c < plan.src.channels->count; ++c) {
    const ChannelSite& site = plan.src.channels->sites[c];
    const std::size_t group = tap_group(site);
    if (is_done[group]) continue;
    is_done[group] = true;
    const ChannelAxes axes = channel_axes(plan, site);
    table.x[group] = append(axes.x, table);
    table.y[group] = append(axes.y, table);
  }
  return table;
}

std::int32_t max_samples(const Plan& plan) noexcept {
  std::int32_t most = 0;
  for (std::size_t c = 0; c < plan.src.channels->count; ++c) {
    const ChannelAxes axes = channel_axes(plan, plan.src.channels->sites[c]);
    most = std::max(most, max_taps(axes.x) * max_taps(axes.y));
  }
  return most;
}

}  // namespace halyard::image
