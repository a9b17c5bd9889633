// SPDX-License-Identifier: Apache-2.0
// What a plan means for the kernels: which are needed, their tables, their constants.
#include <algorithm>
#include <cmath>

#include "image/cpu/fused.h"

namespace halyard::image {
namespace {

// Weights of more samples than these round too coarsely in the kernels' fixed point.
constexpr double most_samples = 16;

double greatest_scale(const Plan& plan) noexcept {
  const Region content = plan.content();
  return std::max(static_cast<double>(plan.turned.width) / content.width,
                  static_cast<double>(plan.turned.height) / content.height);
}

bool has_few_taps(const Plan& plan) noexcept {
  const double scale = std::max(greatest_scale(plan), 1.0);
  switch (plan.filter) {
    case Filter::nearest:
      return true;
    case Filter::bilinear:
      return !plan.antialias || 2 * scale + 1 <= most_samples;
    case Filter::box:
      return !plan.antialias || scale + 1 <= most_samples;
    default:
      return false;  // negative weights
  }
}

// A packed YUV row of one pixel lacks its second chroma sample.
bool lacks_chroma(const Plan& plan) noexcept {
  const ChannelSite& u = plan.src_channels->sites[1];
  return u.step == 4 && u.shift_x == 1 && plan.placement.source().width == 1;
}

ColorMode color_mode(const Plan& plan) noexcept {
  if (plan.color.from == ColorModel::yuv) {
    return plan.color.to == ColorModel::grey ? ColorMode::yuv_to_grey : ColorMode::yuv_to_rgb;
  }
  const bool to_grey = plan.color.from == ColorModel::rgb && plan.color.to == ColorModel::grey;
  return to_grey ? ColorMode::rgb_to_grey : ColorMode::direct;
}

std::size_t needed_channels(const Plan& plan, ColorMode mode) noexcept {
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

}  // namespace

bool Fused::serves(const Plan& plan) noexcept {
  return has_few_taps(plan) && plan.color.to != ColorModel::yuv &&
         plan.values.kind != ValueMap::Kind::table && !lacks_chroma(plan);
}

void Fused::bind(const Plan& plan, const TensorMap& src, const TensorMap& dst) {
  color_ = ColorJob{};
  store_ = StoreJob{};
  color_.color = color_mode(plan);
  color_.matrix = fixed(plan.color.from_yuv);
  channel_count_ = needed_channels(plan, color_.color);
  bind_groups(plan, src);
  bind_tables();
  bind_feed(plan);
  bind_target(plan, dst);
  color_.width = channels_[0].axes.x.outputs;
  code_stride_ = (static_cast<std::size_t>(color_.width) + 63) / 64 * 64 + spare_samples;
  if (plan.pads()) pad_.prepare(plan, target_);
  for (Slot& slot : slots_)
    prepare(plan, slot);
}

void Fused::bind_groups(const Plan& plan, const TensorMap& src) {
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
}

void Fused::bind_tables() {
  for (std::size_t c = 0; c < channel_count_; ++c) {
    Channel& channel = channels_[c];
    Group& group = groups_[channel.group];
    if (channel.across_key != channel.axes.x || channel.across_begin != group.begin) {
      channel.across_begin = -1;  // until the table is whole
      make_taps(channel.axes.x, taps_);
      make_across(taps_, group.begin, channel.axes.columns.end - group.begin, channel.across);
      channel.across_key = channel.axes.x;
      channel.across_begin = group.begin;
    }
    if (group.down_key != channel.axes.y) {
      group.down_key = AxisRequest{};
      make_taps(channel.axes.y, taps_);
      make_down(taps_, group.down);
      group.down_key = channel.axes.y;
    }
  }
}

// Whether source rows can be turned into codes as they are.
void Fused::bind_feed(const Plan& plan) {
  color_.feed = Feed::rows;
  if (plan.color.from != ColorModel::yuv || channel_count_ != 3 || !plan.replicates_chroma ||
      mirrors_columns(plan) || plan.crop().x % 2 != 0) {
    return;
  }
  const auto& sites = plan.src_channels->sites;
  const std::int32_t pairs = std::min(channels_[1].view.columns, channels_[2].view.columns);
  color_.v_first = sites[2].offset < sites[1].offset;
  if (sites[1].plane == 1 && sites[1].step == 2 && sites[1].shift_x == 1) {
    color_.feed = Feed::luma_and_pairs;
  } else if (sites[1].step == 4 && plan.crop().x + plan.crop().width <= 2 * pairs) {
    color_.feed = sites[0].offset == 0 ? Feed::luma_low : Feed::luma_high;
  }
}

void Fused::bind_target(const Plan& plan, const TensorMap& dst) {
  const std::size_t sample = size_of(plan.dst_dtype);
  const ChannelMap& map = *plan.dst_channels;
  for (std::size_t c = 0; c < map.count; ++c)
    target_[c] = target_channel(dst, map.sites[c], plan.placement.destination(), sample);
  store_.channels = map.count;
  store_.planar = map.count > 1 && map.sites[1].plane != map.sites[0].plane;
  store_.blue_first = map.sites[0].offset == 2;
  store_.as_float = plan.values.kind == ValueMap::Kind::affine;
  store_.flip = plan.values.kind == ValueMap::Kind::flip_sign ? 0x80 : 0;
  store_.scale_high = plan.values.scale_high;
  store_.scale_low = plan.values.scale_low;
  store_.bias = plan.values.bias;
}

}  // namespace halyard::image
