// SPDX-License-Identifier: Apache-2.0
// Derives the tables of the integer-ratio sampler from a plan, and decides which plans it serves.
#include <algorithm>
#include <cmath>

#include "image/cpu/resample/axes.h"
#include "image/cpu/resample/rational.h"

namespace halyard::image {
namespace {

constexpr std::int32_t sums_of_block = 8;
constexpr std::int32_t min_columns = 16;  // with fewer, blocks are mostly spare

bool lie_alike(const ChannelSite& a, const ChannelSite& b) noexcept {
  return a.plane == b.plane && a.step == b.step && a.shift_x == b.shift_x && a.shift_y == b.shift_y;
}

// Bytes of one row of a plane that belong to the image.
std::int32_t row_bytes_of(const Plan& plan, std::uint8_t plane) noexcept {
  std::int32_t bytes = 0;
  for (std::size_t c = 0; c < plan.src.channels->count; ++c) {
    const ChannelSite& site = plan.src.channels->sites[c];
    const std::int32_t samples = channel_extent(plan.src, site).width;
    if (site.plane == plane) bytes = std::max(bytes, (samples - 1) * site.step + site.offset + 1);
  }
  return bytes;
}

// Places of the first bytes of each sum of a block.
using Places = std::array<std::int32_t, sums_of_block>;

bool set_controls(const Places& places, std::int32_t second, RationalTable& table) {
  for (auto& control : table.control)
    control.fill(0x80);
  table.loads = 1;
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (const std::int32_t tap : {0, 1}) {
      const auto byte = static_cast<std::size_t>(places[i] + tap * second);
      const std::size_t load = byte / 16;
      if (load >= RationalTable::max_loads) return false;
      table.loads = std::max(table.loads, static_cast<std::int32_t>(load) + 1);
      table.control[load][2 * i + static_cast<std::size_t>(tap)] =
          static_cast<std::uint8_t>(byte % 16);
    }
  }
  return true;
}

bool set_index(const Places& places, std::int32_t second, RationalTable& table) {
  const std::int32_t reach = *std::max_element(places.begin(), places.end()) + second +
                             (table.pairs - 1) * table.pair_bytes;
  table.windows = 1;
  while (reach + (4 / table.windows - 1) * table.block_bytes > 63) {
    if (table.windows == 4) return false;
    table.windows *= 2;
  }
  for (std::int32_t block = 0; block < 4; ++block) {
    const std::int32_t at = block % (4 / table.windows) * table.block_bytes;
    for (std::size_t i = 0; i < places.size(); ++i) {
      std::uint8_t* const index = &table.index[static_cast<std::size_t>(block) * 16 + 2 * i];
      index[0] = static_cast<std::uint8_t>(at + places[i]);
      index[1] = static_cast<std::uint8_t>(at + places[i] + second);
    }
  }
  return true;
}

// Whether every sample contributes to at most two outputs.
bool counts_at_most_twice(const RationalAxis& axis) noexcept {
  const auto end_of = [&](std::int32_t x) {
    std::int32_t taps = axis.taps;
    while (taps > 1 && axis.weights_of(x)[static_cast<std::size_t>(taps - 1)] == 0)
      --taps;
    return axis.first_of(x) + taps;
  };
  for (std::int32_t x = 0; x < axis.period; ++x) {
    if (end_of(x) > axis.first_of(x + 2)) return false;
  }
  return true;
}

}  // namespace

RationalSampler::RationalSampler(const Plan& plan) noexcept
    : Sampler(content_rows(plan), content_columns(plan), 7) {}

bool RationalSampler::bind(const Plan& plan, std::size_t channels) {
  channels_ = channels;
  for (std::size_t c = 0; c < channels; ++c) {
    const ChannelSite& site = plan.src.channels->sites[c];
    std::size_t g = 0;
    while (g < groups_ && !lie_alike(group_[g].site, site))
      ++g;
    Group& group = group_[g];
    if (g == groups_) {
      ++groups_;
      group.lead = c;
      group.site = site;
    }
    group.offset[group.members] = site.offset;
    group.channel[group.members++] = c;
  }
  for (std::size_t g = 0; g < groups_; ++g) {
    if (!bind_group(plan, group_[g])) return false;
  }
  // When rows are enlarged, each would be summed several times; this is accepted for chroma.
  return group_[0].at_once || group_[0].carries;
}

// sum * 2^shift lies in (64, 128], so that the remaining factor lies in [1, 2).
RationalSampler::Scale RationalSampler::scale_of(std::int32_t sum) noexcept {
  Scale scale;
  while (sum << scale.shift <= 64)
    ++scale.shift;
  const double factor = 128.0 / (sum << scale.shift);
  scale.scale = static_cast<std::int16_t>(std::lround((factor - 2) * 32768));
  return scale;
}

bool RationalSampler::bind_group(const Plan& plan, Group& group) const {
  const ChannelAxes axes = channel_axes(plan, group.site);
  const std::optional<RationalAxis> x = make_rational_axis(axes.x);
  const std::optional<RationalAxis> y = x ? make_rational_axis(axes.y) : std::nullopt;
  if (!x || !y || x->sum * y->sum > RationalAxis::max_sum) return false;
  group.x = *x;
  group.y = *y;
  group.row_bytes = row_bytes_of(plan, group.site.plane);
  if (!bind_table(group)) return false;
  bind_edge(group, 0, 0);
  bind_edge(group, columns() - 1, 1);
  group.inner = scale_of(x->sum * y->sum);
  group.at_once = y->taps == 1 && group.table.pairs == 1 && group.patches.empty() &&
                  group.inner.scale == -32768;
  group.carries = counts_at_most_twice(*y) && y->outputs > 2 * y->period + 2;
  for (std::int32_t row = y->period; group.carries && row < 2 * y->period; ++row) {
    const std::int32_t done = step_of(group, row - 1, y->lowest).end;
    group.steps[static_cast<std::size_t>(row - y->period)] = step_of(group, row, done);
  }
  return true;
}

bool RationalSampler::bind_table(Group& group) const {
  RationalTable& table = group.table;
  table.channels = group.members == 3 ? 4 : static_cast<std::int32_t>(group.members);
  const std::int32_t each = sums_of_block / table.channels;
  if (each % group.x.period != 0) return false;
  const std::int32_t step = group.site.step;
  table.blocks = (columns() + 31) / 32 * 4 * table.channels;
  table.block_bytes = each / group.x.period * group.x.stride * step;
  table.pairs = (group.x.taps + 1) / 2;
  table.pair_bytes = 2 * step;
  Places places{};
  for (std::int32_t i = 0; i < sums_of_block; ++i) {
    const auto member = std::min(static_cast<std::size_t>(i / each), group.members - 1);
    places[static_cast<std::size_t>(i)] = group.x.first_of(i % each) * step + group.offset[member];
    const RationalAxis::Weights& weights = group.x.weights_of(i % each);
    for (std::size_t t = 0; t < weights.size(); ++t)
      table.weights[t / 2][static_cast<std::size_t>(2 * i) + t % 2] = weights[t];
  }
  group.begin = *std::min_element(places.begin(), places.end());
  for (std::int32_t& place : places)
    place -= group.begin;
  const std::int32_t second = group.x.taps == 1 ? 0 : step;
  if (!set_controls(places, second, table) || !set_index(places, second, table)) return false;
  group.end = group.begin + rational_reach(table);
  return true;
}

// Output x includes samples that do not exist. They are subtracted again, and where edges repeat,
// the edge sample is added instead.
void RationalSampler::bind_edge(Group& group, std::int32_t x, std::size_t which) const {
  const std::int32_t step = group.site.step;
  const std::int32_t sum = group.x.sum_of(x);
  group.edge[which] = ((group.x.sum << edge_bits) + sum / 2) / sum;
  for (std::int32_t t = 0; t < group.x.taps; ++t) {
    const std::int32_t sample = group.x.first_of(x) + t;
    const std::int16_t weight = group.x.weights_of(x)[static_cast<std::size_t>(t)];
    const std::int32_t there = std::clamp(sample, group.x.lowest, group.x.highest - 1);
    if (sample == there || weight == 0) continue;
    for (std::size_t k = 0; k < group.members; ++k) {
      const std::size_t point = 2 * k + which;
      const std::int32_t from = group.offset[k] - group.begin;
      group.patches.push_back({point, sample * step + from, static_cast<std::int16_t>(-weight)});
      if (group.x.repeats) group.patches.push_back({point, there * step + from, weight});
    }
  }
}

std::unique_ptr<const Sampler> make_rational(const Plan& plan, std::size_t channels) {
  const bool bytes = plan.src.channels != nullptr && size_of(plan.src.dtype) == 1;
  if (!bytes || plan.affine || plan.exact || content_columns(plan) < min_columns) return nullptr;
  auto sampler = std::make_unique<RationalSampler>(plan);
  if (!sampler->bind(plan, channels)) return nullptr;
  return sampler;
}

}  // namespace halyard::image
