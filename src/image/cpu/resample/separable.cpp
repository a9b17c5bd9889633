// SPDX-License-Identifier: Apache-2.0
// Runs rows through the kernels. separable_bind.cpp derives groups and tables from a plan.
#include "image/cpu/resample/separable.h"

#include <algorithm>

namespace halyard::image {

void SeparableSampler::begin(std::byte* workspace) const {
  const Workspace at = lay_out(workspace);
  *at.self = at;
  at.state->made.fill(-1);
  std::fill_n(at.held, groups_ * static_cast<std::size_t>(ring_rows_), -1);
  if (reader_) reader_->begin(at.reader);
}

SampleRows SeparableSampler::row(const MappedImages& frame, std::int32_t row,
                                 std::byte* workspace) const {
  const Workspace& at = *reinterpret_cast<const Workspace*>(workspace);
  for (std::size_t g = 0; g < groups_; ++g) {
    const std::int64_t id = group_[g].vertical.row(row).id;
    if (at.state->made[g] == id) continue;
    at.state->made[g] = id;
    horizontal_first_ ? horizontal_then_vertical(frame, g, row, at)
                      : vertical_then_horizontal(frame, g, row, at);
  }
  SampleRows out;
  out.end = columns();
  for (std::size_t c = 0; c < channels_; ++c)
    out.channel[c] = result(c, row, at);
  return out;
}

// The row where the last step stored the result of channel `c`.
const std::int16_t* SeparableSampler::result(std::size_t c, std::int32_t row,
                                             const Workspace& at) const noexcept {
  const std::size_t g = channel_[c].group;
  const VerticalTable::Row vertical = group_[g].vertical.row(row);
  if (horizontal_first_ && vertical.count == 1) return ring_place(c, vertical.first, at);
  return !horizontal_first_ && is_identity(c) ? at.read[c] : at.out[c];
}

const std::uint8_t* SeparableSampler::source_row(const MappedImages& frame, const Group& group,
                                                 std::int32_t row) const noexcept {
  const std::byte* from = frame.source[group.lead].row(row) - group.lead_bytes +
                          static_cast<std::size_t>(group.begin) * group_bytes(group.split);
  return reinterpret_cast<const std::uint8_t*>(from);
}

BlendBytes SeparableSampler::blend_of(const Group& group, const Workspace& at) const noexcept {
  BlendBytes job;
  job.split = group.split;
  job.groups = group.groups;
  job.fraction = fraction();
  for (std::size_t k = 0; k < 4; ++k) {
    if (group.channel_at[k] >= 0)
      job.out[k] = at.read[static_cast<std::size_t>(group.channel_at[k])];
  }
  return job;
}

// A row of one channel that is not blended needs no row of samples in between.
bool SeparableSampler::takes_bytes(std::size_t c) const noexcept {
  return !reader_ && group_[channel_[c].group].split == Split::whole && !is_identity(c) &&
         horizontal(c).takes_bytes();
}

void SeparableSampler::vertical_then_horizontal(const MappedImages& frame, std::size_t g,
                                                std::int32_t row, const Workspace& at) const {
  const Group& group = group_[g];
  const VerticalTable::Row vertical = group.vertical.row(row);
  if (vertical.count == 1 && takes_bytes(group.lead)) {
    resample_bytes(source_row(frame, group, vertical.first), horizontal(group.lead), fraction(),
                   at.out[group.lead]);
    return;
  }
  const auto rows = reinterpret_cast<const std::uint8_t**>(at.rows);
  for (std::int32_t t = 0; t < vertical.count; ++t)
    rows[t] = source_row(frame, group, vertical.first + t);
  BlendBytes job = blend_of(group, at);
  job.weights = group.vertical.weights(vertical);
  job.rows = rows;
  blend_bytes(job);
  for (std::size_t c = 0; c < channels_; ++c) {
    if (channel_[c].group == g && !is_identity(c))
      resample_row(at.read[c], horizontal(c), at.out[c]);
  }
}

std::int16_t* SeparableSampler::ring_place(std::size_t c, std::int32_t source,
                                           const Workspace& at) const noexcept {
  return at.ring[c] + static_cast<std::size_t>(source % ring_rows_) * ring_row();
}

// Resamples source row `source` into the rings, unless it is there.
void SeparableSampler::fetch(const MappedImages& frame, std::size_t g, std::int32_t source,
                             const Workspace& at) const {
  const Group& group = group_[g];
  std::int32_t& held = at.held[static_cast<std::int32_t>(g) * ring_rows_ + source % ring_rows_];
  if (held == source) return;
  held = source;
  const std::uint8_t* from = reader_ ? nullptr : source_row(frame, group, source);
  if (takes_bytes(group.lead)) {
    resample_bytes(from, horizontal(group.lead), fraction(), ring_place(group.lead, source, at));
    return;
  }
  BlendBytes job = blend_of(group, at);
  job.rows = &from;
  for (std::size_t c = 0; c < channels_; ++c) {
    if (channel_[c].group == g && is_identity(c))
      job.out[channel_[c].slot] = ring_place(c, source, at);
  }
  reader_ ? reader_->read(frame, source, job.out, at.reader) : blend_bytes(job);
  for (std::size_t c = 0; c < channels_; ++c) {
    if (channel_[c].group == g && !is_identity(c))
      resample_row(at.read[c], horizontal(c), ring_place(c, source, at));
  }
}

void SeparableSampler::horizontal_then_vertical(const MappedImages& frame, std::size_t g,
                                                std::int32_t row, const Workspace& at) const {
  const Group& group = group_[g];
  const VerticalTable::Row vertical = group.vertical.row(row);
  for (std::int32_t t = 0; t < vertical.count; ++t)
    fetch(frame, g, vertical.first + t, at);
  if (vertical.count == 1) return;
  const auto rows = reinterpret_cast<const std::int16_t**>(at.rows);
  for (std::size_t c = 0; c < channels_; ++c) {
    if (channel_[c].group != g) continue;
    for (std::int32_t t = 0; t < vertical.count; ++t)
      rows[t] = ring_place(c, vertical.first + t, at);
    blend_samples({group.vertical.weights(vertical), rows, columns(), at.out[c]});
  }
}

}  // namespace halyard::image
