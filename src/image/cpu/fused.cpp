// SPDX-License-Identifier: Apache-2.0
// Binds a plan to the row kernels and walks the destination's rows.
#include "image/cpu/fused.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "base/format_error.h"
#include "image/cpu/across.h"

namespace halyard::image {
namespace {

bool has_two_taps(const ConvertPlan& plan) noexcept {
  if (plan.filter == Filter::nearest) return true;
  return !plan.antialias && (plan.filter == Filter::bilinear || plan.filter == Filter::box);
}

// A packed YUV row of one pixel lacks its second chroma sample.
bool lacks_chroma(const ConvertPlan& plan) noexcept {
  return plan.src_channels->sites[1].step == 4 && plan.src_channels->sites[1].shift_x == 1 &&
         plan.placement.source().width == 1;
}

ColorMode color_mode(const ConvertPlan& plan) noexcept {
  if (plan.color.from == ColorModel::yuv) {
    return plan.color.to == ColorModel::grey ? ColorMode::yuv_to_grey : ColorMode::yuv_to_rgb;
  }
  const bool to_grey = plan.color.from == ColorModel::rgb && plan.color.to == ColorModel::grey;
  return to_grey ? ColorMode::rgb_to_grey : ColorMode::direct;
}

std::size_t needed_channels(const ConvertPlan& plan, ColorMode mode) noexcept {
  if (mode == ColorMode::yuv_to_grey || plan.color.from == ColorModel::grey) return 1;
  return plan.color.keeps_alpha ? 4 : 3;
}

FixedMatrix fixed(const YuvToRgb& m) noexcept {
  const auto quarter = [](double c) {
    return static_cast<std::int16_t>(std::lround(c * (1 << 13)));
  };
  return {static_cast<std::int16_t>(std::lround(m.y_offset * 128)),
          quarter(m.y_scale),
          quarter(m.rv),
          quarter(m.gu),
          quarter(m.gv),
          quarter(m.bu)};
}

// Rows below which a strip is not worth a thread: about 50 us of work at one pixel a nanosecond.
std::int32_t least_rows(const ConvertPlan& plan) noexcept {
  constexpr std::int64_t least_work = 50'000;
  const std::int64_t row = std::max<std::int64_t>(plan.content().width, plan.crop().width / 2);
  return static_cast<std::int32_t>(std::max<std::int64_t>(least_work / row, 1));
}

}  // namespace

bool Fused::serves(const ConvertPlan& plan) noexcept {
  return !plan.swaps_axes() && has_two_taps(plan) && plan.color.to != ColorModel::yuv &&
         plan.values.kind != ValueMap::Kind::table && !lacks_chroma(plan);
}

Status Fused::run(const ConvertPlan& plan) {
  HALYARD_TRY(const TensorMap src, plan.src.map(Access::read));
  HALYARD_TRY(const TensorMap dst, plan.dst.map(Access::write));
  try {
    bind(plan, src, dst);
    parallel_.for_strips(plan.placement.destination().height, least_rows(plan),
                         [&](std::int32_t begin, std::int32_t end, std::size_t slot) {
                           convert_rows(plan, begin, end, slots_[slot]);
                         });
  } catch (const std::bad_alloc&) {
    return fail(Errc::no_memory, "convert: no working memory");
  }
  return {};
}

void Fused::bind(const ConvertPlan& plan, const TensorMap& src, const TensorMap& dst) {
  job_ = FinishJob{};
  job_.color = color_mode(plan);
  job_.matrix = fixed(plan.color.from_yuv);
  job_.width = plan.content().width;
  channel_count_ = needed_channels(plan, job_.color);
  bind_groups(plan, src);
  bind_feed(plan);
  bind_target(plan, dst);
  if (plan.pads()) pad_.prepare(plan, target_);
  for (Slot& slot : slots_)
    prepare(slot);
}

void Fused::bind_groups(const ConvertPlan& plan, const TensorMap& src) {
  group_count_ = 0;
  for (std::size_t c = 0; c < channel_count_; ++c) {
    Channel& channel = channels_[c];
    const ChannelSite& site = plan.src_channels->sites[c];
    channel.view = source_channel(src, site, plan.placement.source(), 1);
    channel.axes = channel_axes(plan, channel.view);
    std::size_t g = 0;
    while (g < group_count_ &&
           (groups_[g].site.plane != site.plane || groups_[g].site.step != site.step))
      ++g;
    Group& group = groups_[g];
    if (g == group_count_) {
      ++group_count_;
      group.site = site;
      group.base = channel.view.base - site.offset;
      group.stride_bytes = channel.view.stride_bytes;
      group.begin = channel.axes.columns.begin;
      group.channel_at = {-1, -1, -1, -1};
    }
    channel.group = g;
    group.begin = std::min(group.begin, channel.axes.columns.begin);
    group.channel_at[site.offset] = static_cast<int>(c);
  }
  for (std::size_t c = 0; c < channel_count_; ++c) {
    Channel& channel = channels_[c];
    Group& group = groups_[channel.group];
    if (channel.across_key != channel.axes.x || channel.across_begin != group.begin) {
      make_taps(channel.axes.x, taps_);
      make_across(taps_, group.begin, channel.across);
      channel.across_key = channel.axes.x;
      channel.across_begin = group.begin;
    }
    if (group.down_key == channel.axes.y) continue;
    make_taps(channel.axes.y, taps_);
    group.down.resize(taps_.first.size());
    group.down_key = channel.axes.y;
    for (std::size_t y = 0; y < group.down.size(); ++y) {
      const std::int32_t first = taps_.first[y];
      const double weight = taps_.count == 2 ? static_cast<double>(taps_.weight[2 * y + 1]) : 0;
      const long code = std::lround(weight * (1 << 15));
      group.down[y] = code == 1 << 15 ? RowTap{first + 1, first + 1, 0}
                                      : RowTap{first, first + 1, static_cast<std::int16_t>(code)};
    }
  }
}

// Whether source rows can be finished as they are.
void Fused::bind_feed(const ConvertPlan& plan) {
  job_.feed = Feed::rows;
  if (plan.color.from != ColorModel::yuv || channel_count_ != 3 || !plan.replicates_chroma ||
      mirrors_columns(plan) || plan.crop().x % 2 != 0) {
    return;
  }
  const auto& sites = plan.src_channels->sites;
  const SourceChannel& u = channels_[1].view;
  const SourceChannel& v = channels_[2].view;
  job_.v_first = sites[2].offset < sites[1].offset;
  if (sites[1].plane == 1 && sites[1].step == 2 && sites[1].shift_x == 1) {
    job_.feed = Feed::luma_and_pairs;
  } else if (sites[1].step == 4 &&
             plan.crop().x + plan.crop().width <= 2 * std::min(u.columns, v.columns)) {
    job_.feed = sites[0].offset == 0 ? Feed::luma_low : Feed::luma_high;
  }
}

void Fused::bind_target(const ConvertPlan& plan, const TensorMap& dst) {
  const std::size_t sample = size_of(plan.dst_dtype);
  const ChannelMap& map = *plan.dst_channels;
  for (std::size_t c = 0; c < map.count; ++c)
    target_[c] = target_channel(dst, map.sites[c], plan.placement.destination(), sample);
  job_.channels = map.count;
  job_.planar = map.count > 1 && map.sites[1].plane != map.sites[0].plane;
  job_.blue_first = map.sites[0].offset == 2;
  job_.as_float = plan.values.kind == ValueMap::Kind::affine;
  job_.flip = plan.values.kind == ValueMap::Kind::flip_sign ? 0x80 : 0;
  job_.scale_high = plan.values.scale_high;
  job_.scale_low = plan.values.scale_low;
  job_.bias = plan.values.bias;
}

void Fused::prepare(Slot& slot) const {
  for (std::size_t c = 0; c < channel_count_; ++c) {
    const Channel& channel = channels_[c];
    const std::int32_t samples = channel.axes.columns.end - groups_[channel.group].begin;
    slot.blended[c].resize(
        std::max(slot.blended[c].size(), static_cast<std::size_t>(samples) + spare_samples));
    slot.resampled[c].resize(
        std::max(slot.resampled[c].size(),
                 static_cast<std::size_t>(channel.axes.x.outputs) + spare_samples));
  }
}

void Fused::convert_rows(const ConvertPlan& plan, std::int32_t begin, std::int32_t end,
                         Slot& slot) const {
  const Region content = plan.content();
  const bool pads = plan.pads();
  slot.last.fill({-1, -1, 0});
  FinishJob job = job_;
  for (std::int32_t y = begin; y < end; ++y) {
    if (pads) pad_.fill(y, y + 1);
    if (y < content.y || y >= content.y + content.height) continue;
    if (job.feed == Feed::rows) {
      gather_rows(y - content.y, slot, job);
    } else {
      feed_bytes(plan, y - content.y, job);
    }
    for (std::size_t c = 0; c < plan.dst_channels->count; ++c) {
      const TargetChannel& target = target_[c];
      job.out[c] = target.row(y) + static_cast<std::size_t>(content.x) * target.step_bytes;
    }
    if (!job.planar) job.out[0] -= plan.dst_channels->sites[0].offset * size_of(plan.dst_dtype);
    finish_row(job);
  }
}

void Fused::gather_rows(std::int32_t row, Slot& slot, FinishJob& job) const {
  for (std::size_t g = 0; g < group_count_; ++g)
    blend_group(g, row, slot);
  for (std::size_t c = 0; c < channel_count_; ++c) {
    const Channel& channel = channels_[c];
    if (channel.across.mode == AcrossTable::Mode::identity) {
      job.rows[c] = slot.blended[c].data();
      continue;
    }
    if (slot.fresh[channel.group]) {
      resample_row(slot.blended[c].data(), channel.across, slot.resampled[c].data());
    }
    job.rows[c] = slot.resampled[c].data();
  }
  for (std::size_t c = channel_count_; c < 3; ++c)
    job.rows[c] = job.rows[0];  // grey for all colours
}

void Fused::blend_group(std::size_t index, std::int32_t row, Slot& slot) const {
  const Group& group = groups_[index];
  const RowTap& tap = group.down[static_cast<std::size_t>(row)];
  slot.fresh[index] = tap != slot.last[index];
  if (!slot.fresh[index]) return;
  slot.last[index] = tap;
  const auto row_at = [&](std::int32_t y) {
    return reinterpret_cast<const std::uint8_t*>(
        group.base + static_cast<std::size_t>(y) * group.stride_bytes +
        static_cast<std::size_t>(group.begin) * group.site.step);
  };
  BlendJob job;
  job.a = row_at(tap.first);
  job.b = tap.weight == 0 ? job.a : row_at(tap.second);
  job.weight = tap.weight;
  job.step = group.site.step;
  for (std::size_t k = 0; k < 4; ++k) {
    if (group.channel_at[k] < 0) continue;
    const auto c = static_cast<std::size_t>(group.channel_at[k]);
    job.out[k] = slot.blended[c].data();
    job.samples[k] = channels_[c].axes.columns.end - group.begin;
  }
  blend_rows(job);
}

void Fused::feed_bytes(const ConvertPlan& plan, std::int32_t row, FinishJob& job) const {
  const auto x = static_cast<std::size_t>(plan.crop().x);
  const auto row_of = [&](const Group& group) {
    return reinterpret_cast<const std::uint8_t*>(group.base) +
           static_cast<std::size_t>(group.down[static_cast<std::size_t>(row)].first) *
               group.stride_bytes;
  };
  if (job.feed == Feed::luma_and_pairs) {
    job.bytes = row_of(groups_[0]) + x;
    job.pairs = row_of(groups_[1]) + x;  // a pair of bytes for two columns, and x is even
  } else {
    job.bytes = row_of(groups_[0]) + 2 * x;
  }
}

}  // namespace halyard::image
