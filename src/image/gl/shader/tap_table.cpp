// SPDX-License-Identifier: Apache-2.0
#include "image/gl/shader/tap_table.h"

#include <algorithm>
#include <bit>

#include "image/cpu/resample/axes.h"
#include "image/cpu/resample/taps.h"
#include "image/gl/shader/affine_rows.h"

namespace halyard::image {
namespace {

// Bilinear taps: up to these, the texture between two passes costs more than it saves.
constexpr std::int64_t few_samples = 4;
// 64 x 64. More in one pass would keep one pixel busy while the others are done.
constexpr std::int64_t max_samples_of_one_pass = 4096;

TapRows append(const AxisRequest& axis, TapTable& table) {
  AxisTaps taps;
  make_taps(axis, taps);
  const TapRows out{table.rows, taps.count};
  const auto width = static_cast<std::size_t>(table.width);
  table.values.resize(width * static_cast<std::size_t>(table.rows + 1 + taps.count));
  std::uint32_t* row = table.values.data() + width * static_cast<std::size_t>(table.rows);
  for (std::size_t x = 0; x < taps.first.size(); ++x)
    row[x] = static_cast<std::uint32_t>(taps.first[x]);
  const auto count = static_cast<std::size_t>(taps.count);
  for (std::size_t t = 0; t < count; ++t) {
    row += width;
    for (std::size_t x = 0; x < taps.first.size(); ++x)
      row[x] = std::bit_cast<std::uint32_t>(taps.weight[x * count + t]);
  }
  table.rows += 1 + taps.count;
  return out;
}

template <class Visit>
void for_each_group(const Plan& plan, const Visit& visit) {
  for (std::size_t group = 0; group < group_count; ++group) {
    const ChannelSite* const site = first_in_group(plan.src, group);
    if (site != nullptr) visit(group, channel_axes(plan, *site));
  }
}

}  // namespace

TapTable make_tap_table(const Plan& plan) {
  TapTable table;
  table.width = std::max(plan.content.width, plan.content.height);
  if (plan.affine) {
    table.rows = affine_row_count;
    table.values = affine_rows(plan, table.width);
    return table;
  }
  for_each_group(plan, [&](std::size_t group, const ChannelAxes& axes) {
    table.x[group] = append(axes.x, table);
    table.y[group] = append(axes.y, table);
  });
  return table;
}

std::int64_t tap_table_rows(const Plan& plan) noexcept {
  if (plan.affine) return affine_row_count;
  std::int64_t rows = 0;
  for_each_group(plan, [&](std::size_t, const ChannelAxes& axes) {
    rows += std::int64_t{2} + max_taps(axes.x) + max_taps(axes.y);
  });
  return rows;
}

bool takes_two_passes(const Plan& plan) noexcept {
  if (plan.affine) return false;
  std::int64_t samples = 0;
  // Samples that are read for one column of outputs.
  std::int64_t one_pass = 0;
  std::int64_t two_passes = 0;
  for_each_group(plan, [&](std::size_t, const ChannelAxes& axes) {
    const std::int64_t x_taps = max_taps(axes.x);
    const std::int64_t column = std::int64_t{max_taps(axes.y)} * axes.y.outputs;
    samples = std::max(samples, x_taps * max_taps(axes.y));
    one_pass += x_taps * column;
    two_passes += x_taps * axes.rows.count() + column;
  });
  if (samples <= few_samples) return false;
  return samples > max_samples_of_one_pass || two_passes < one_pass;
}

std::int64_t loop_iterations(const Plan& plan) noexcept {
  if (plan.affine) return affine_loop_iterations(plan);
  const bool is_second_pass = takes_two_passes(plan);
  std::int64_t sum = 0;
  for_each_group(plan, [&](std::size_t, const ChannelAxes& axes) {
    sum += std::int64_t{max_taps(axes.y)} * (is_second_pass ? 1 : 1 + max_taps(axes.x));
  });
  return sum;
}

}  // namespace halyard::image
