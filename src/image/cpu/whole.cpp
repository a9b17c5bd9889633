// SPDX-License-Identifier: Apache-2.0
// Walks rows through the kernels of whole weights. What a plan means for them: whole_bind.cpp.
#include "image/cpu/whole.h"

#include <algorithm>
#include <cstring>

namespace halyard::image {

WholeSampler::Layout WholeSampler::lay_out(std::byte* workspace) const noexcept {
  WorkspaceCursor cursor(workspace);
  Layout at;
  cursor.take<Layout>(1);
  std::int32_t copied = 0;
  for (std::size_t g = 0; g < groups_; ++g) {
    const Group& group = group_[g];
    const auto places = static_cast<std::size_t>(group.y.taps);
    at.held[g] = cursor.take<std::int32_t>(places);
    if (!group.at_once)
      at.ring[g] =
          cursor.take<std::int16_t>(places * 8 * static_cast<std::size_t>(group.table.blocks));
    copied = std::max(copied, group.end - group.begin);
  }
  for (std::size_t c = 0; c < channels_; ++c)
    at.out[c] = cursor.take<std::int16_t>(padded_row(columns()));
  at.copy = cursor.take<std::uint8_t>(static_cast<std::size_t>(copied));
  at.bytes = cursor.used_bytes();
  return at;
}

void WholeSampler::begin(std::byte* workspace) const {
  const Layout at = lay_out(workspace);
  *reinterpret_cast<Layout*>(workspace) = at;
  for (std::size_t g = 0; g < groups_; ++g)
    std::fill_n(at.held[g], group_[g].y.taps, -1);
}

SampleRows WholeSampler::row(const Frame& frame, std::int32_t row, std::byte* workspace) const {
  const Layout& at = *reinterpret_cast<const Layout*>(workspace);
  SampleRows out;
  out.end = columns();
  for (std::size_t g = 0; g < groups_; ++g) {
    const Group& group = group_[g];
    if (!group.at_once) {
      blend(frame, g, row, at);
      continue;
    }
    std::array<std::int16_t*, 4> to{};
    for (std::size_t k = 0; k < group.members; ++k)
      to[k] = at.out[group.channel[k]];
    whole_samples(group.table, bytes_of(frame, group, group.y.first_of(row), at), group.inner.shift,
                  to);
  }
  for (std::size_t c = 0; c < channels_; ++c)
    out.channel[c] = at.out[c];
  return out;
}

// From byte `begin` of the row on. Where the kernels read past its ends, those bytes must be the
// picture's own: of the rows before and behind it; else the row is copied.
const std::uint8_t* WholeSampler::bytes_of(const Frame& frame, const Group& group, std::int32_t row,
                                           const Layout& at) const noexcept {
  const SourceChannel& plane = frame.source[group.lead];
  const auto from = reinterpret_cast<const std::uint8_t*>(plane.row(row) - group.site.offset);
  const auto whole = static_cast<std::size_t>(group.row_bytes);
  const bool dense = plane.stride_bytes == whole;
  const bool before = group.begin >= 0 || (dense && row > 0 && group.begin >= -group.row_bytes);
  const bool behind = group.end <= group.row_bytes ||
                      (dense && row + 1 < plane.rows && group.end <= 2 * group.row_bytes);
  if (before && behind) return from + group.begin;
  const std::int32_t first = std::max(group.begin, 0);
  const std::int32_t last = std::min(group.end, group.row_bytes);
  std::memcpy(at.copy + (first - group.begin), from + first,
              static_cast<std::size_t>(last - first));
  return at.copy;
}

// Source row `row`, filtered along itself, from the ring.
const std::int16_t* WholeSampler::sums_of(const Frame& frame, std::size_t g, std::int32_t row,
                                          const Layout& at) const noexcept {
  const Group& group = group_[g];
  const auto place = static_cast<std::size_t>(row % group.y.taps);
  std::int16_t* const sums = at.ring[g] + place * 8 * static_cast<std::size_t>(group.table.blocks);
  if (at.held[g][place] == row) return sums;
  at.held[g][place] = row;
  const std::uint8_t* const bytes = bytes_of(frame, group, row, at);
  whole_sums(group.table, bytes, sums);
  for (const Patch& patch : group.patches)
    sums[patch.sum] = static_cast<std::int16_t>(sums[patch.sum] + patch.weight * bytes[patch.byte]);
  return sums;
}

void WholeSampler::blend(const Frame& frame, std::size_t g, std::int32_t row,
                         const Layout& at) const noexcept {
  const Group& group = group_[g];
  const WholeAxis::Weights& weights = group.y.weights_of(row);
  WholeBlend job;
  job.taps = 0;
  for (std::int32_t t = 0; t < group.y.taps; ++t) {
    const std::int16_t weight = weights[static_cast<std::size_t>(t)];
    std::int32_t source = group.y.first_of(row) + t;
    const bool outside = source < group.y.lowest || source >= group.y.highest;
    if (weight == 0 || (outside && !group.y.repeats)) continue;
    source = std::clamp(source, group.y.lowest, group.y.highest - 1);
    const auto place = static_cast<std::size_t>(job.taps++);
    job.rows[place] = sums_of(frame, g, source, at);
    job.weights[place] = weight;
  }
  const std::int32_t sum = group.y.sum_of(row);
  const Scale scale = sum == group.y.sum ? group.inner : scale_of(sum * group.x.sum);
  job.shift = scale.shift;
  job.scale = scale.scale;
  job.blocks = group.table.blocks;
  job.channels = group.table.channels;
  for (std::size_t k = 0; k < group.members; ++k)
    job.out[k] = at.out[group.channel[k]];
  whole_blend(job);
  const std::size_t ends[] = {0, static_cast<std::size_t>(columns() - 1)};
  for (std::size_t e = 0; e < 2; ++e) {
    if (group.edge[e] == 0) continue;
    for (std::size_t k = 0; k < group.members; ++k) {
      std::int16_t& sample = job.out[k][ends[e]];
      sample = static_cast<std::int16_t>((sample * group.edge[e] + (1 << 13)) >> 14);
    }
  }
}

}  // namespace halyard::image
