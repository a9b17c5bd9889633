// SPDX-License-Identifier: Apache-2.0
// Derives the groups of channels and their tables from a plan, for the separable sampler.
#include <algorithm>

#include "image/cpu/resample/fixed_taps.h"
#include "image/cpu/resample/separable.h"

namespace halyard::image {
namespace {

int sample_fraction(const Plan& plan) noexcept {
  return plan.filter == Filter::bicubic || plan.filter == Filter::lanczos3 ? 6 : 7;
}

// Whether source rows contribute to more than one output row because rows are enlarged.
bool enlarges_rows(const Plan& plan) noexcept {
  return content_rows(plan) > (plan.swaps_axes() ? plan.rotated_width : plan.rotated_height);
}

// Sources that are not channels of bytes.
bool needs_reader(const Plan& plan) noexcept {
  return plan.src.channels == nullptr || size_of(plan.src.dtype) != 1;
}

ChannelSite site_of(const Plan& plan, std::size_t c) noexcept {
  return plan.src.channels == nullptr ? ChannelSite{0, 0, 1, 0, 0} : plan.src.channels->sites[c];
}

// Packed YUV: two luma samples and one sample of each chroma in four bytes.
bool is_packed_yuv(const Plan& plan) noexcept {
  const ChannelSite& second = plan.src.channels->sites[1];
  return plan.src.channels->count > 1 && second.step == 4 && second.shift_x == 1;
}

Split split_of(const Plan& plan, std::size_t channels, const ChannelSite& site) noexcept {
  if (channels > 1 && is_packed_yuv(plan)) {
    return plan.src.channels->sites[0].offset == 0 ? Split::luma_first : Split::luma_last;
  }
  constexpr Split by_step[] = {Split::whole, Split::pairs, Split::triples, Split::quads};
  return by_step[site.step - 1U];
}

bool is_luma_split(Split split) noexcept {
  return split == Split::luma_first || split == Split::luma_last;
}

std::size_t slot_of(Split split, const ChannelSite& site) noexcept {
  if (!is_luma_split(split)) return site.offset;
  return site.step == 2 ? 0 : 1U + site.offset / 2U;
}

}  // namespace

SeparableSampler::SeparableSampler(const Plan& plan, std::size_t channels)
    : Sampler(content_rows(plan), content_columns(plan), sample_fraction(plan)),
      channels_(channels),
      few_(plan.exact ? few_exact_taps : few_taps),
      horizontal_first_(enlarges_rows(plan) || needs_reader(plan) || plan.exact) {
  if (needs_reader(plan)) {
    bind_reader(plan);
  } else {
    for (std::size_t c = 0; c < channels; ++c)
      bind_group(plan, c);
  }
  for (std::size_t c = 0; c < channels; ++c)
    bind_horizontal(plan, c);
  if (!horizontal_first_) return;
  for (std::size_t g = 0; g < groups_; ++g)
    ring_rows_ = std::max(ring_rows_, group_[g].vertical.max_rows());
}

// All channels come from one plane and are read together.
void SeparableSampler::bind_reader(const Plan& plan) {
  const ChannelAxes axes = channel_axes(plan, site_of(plan, 0));
  reader_ = make_reader(plan, axes.columns, fraction());
  groups_ = 1;
  Group& group = group_[0];
  group.begin = axes.columns.begin;
  group.groups = axes.columns.count();
  group.vertical = VerticalTable(axes.y, {false, few_, false});
  for (std::size_t c = 0; c < channels_; ++c) {
    channel_[c].slot = c;
    group.channel_at[c] = static_cast<int>(c);
  }
}

// Channels of one plane have the same vertical axis, so that they share source rows.
void SeparableSampler::bind_group(const Plan& plan, std::size_t c) {
  const ChannelSite& site = plan.src.channels->sites[c];
  const ChannelAxes axes = channel_axes(plan, site);
  std::size_t g = 0;
  while (g < groups_ && plan.src.channels->sites[group_[g].lead].plane != site.plane)
    ++g;
  Group& group = group_[g];
  const Split split = split_of(plan, channels_, site);
  const bool luma = is_luma_split(split) && site.step == 2;
  const std::int32_t begin = luma ? axes.columns.begin / 2 : axes.columns.begin;
  const std::int32_t end = luma ? (axes.columns.end + 1) / 2 : axes.columns.end;
  if (g == groups_) {
    ++groups_;
    group.lead = c;
    group.lead_bytes = site.offset;
    group.split = split;
    group.begin = begin;
    group.groups = end - begin;
    group.vertical = VerticalTable(axes.y, {!horizontal_first_, few_, true});
  }
  const std::int32_t last = std::max(group.begin + group.groups, end);
  group.begin = std::min(group.begin, begin);
  group.groups = last - group.begin;
  channel_[c].group = g;
  channel_[c].slot = slot_of(split, site);
  group.channel_at[channel_[c].slot] = static_cast<int>(c);
}

void SeparableSampler::bind_horizontal(const Plan& plan, std::size_t c) {
  Channel& channel = channel_[c];
  const Group& group = group_[channel.group];
  const std::int32_t each = is_luma_split(group.split) && channel.slot == 0 ? 2 : 1;
  channel.samples = group.groups * each;
  channel.axis = channel_axes(plan, site_of(plan, c)).x;
  const bool bytes = group.split == Split::whole && !reader_;
  // Rows of bytes are resampled directly, unless they are blended first.
  const bool of_bytes = bytes && (horizontal_first_ || !group.vertical.blends_all());
  const bool of_samples = !bytes || (!horizontal_first_ && group.vertical.max_rows() > 1);
  channel.use = {group.begin * each, channel.samples, few_, of_bytes, of_samples};
  for (std::size_t other = 0; other < c; ++other) {
    const Channel& before = channel_[other];
    if (before.use == channel.use && before.axis == channel.axis) {
      channel.like = before.like;
      return;
    }
  }
  channel.like = c;
  channel.horizontal = make_horizontal(channel.axis, channel.use);
}

SeparableSampler::Workspace SeparableSampler::lay_out(std::byte* workspace) const noexcept {
  WorkspaceCursor cursor(workspace);
  Workspace at;
  at.self = cursor.take<Workspace>(1);
  at.state = cursor.take<State>(1);
  std::int32_t max_rows = 1;
  for (std::size_t g = 0; g < groups_; ++g)
    max_rows = std::max(max_rows, group_[g].vertical.max_rows());
  at.rows = cursor.take<const void*>(static_cast<std::size_t>(max_rows));
  const auto places = static_cast<std::size_t>(ring_rows_);
  at.held = cursor.take<std::int32_t>(groups_ * places);
  for (std::size_t c = 0; c < channels_; ++c) {
    at.read[c] = cursor.take<std::int16_t>(padded_row(channel_[c].samples));
    if (horizontal_first_) at.ring[c] = cursor.take<std::int16_t>(places * ring_row());
    at.out[c] = cursor.take<std::int16_t>(ring_row());
  }
  if (reader_) at.reader = cursor.take<std::byte>(reader_->workspace_bytes());
  at.bytes = cursor.used_bytes();
  return at;
}

std::unique_ptr<const Sampler> make_separable(const Plan& plan, std::size_t channels) {
  return std::make_unique<SeparableSampler>(plan, channels);
}

}  // namespace halyard::image
