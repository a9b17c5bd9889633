// SPDX-License-Identifier: Apache-2.0
// Separable sampler: down each column, then across, tap by tap.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "image/cpu/axes.h"
#include "image/cpu/sampler.h"

namespace halyard::image {
namespace {

struct Channel {
  bool absent = false;  // has no sample: 128 stands in
  SampleRange columns;
  AxisTaps x;
  AxisTaps y;
};

float sample_at(const std::byte* at, bool wide, float scale) noexcept {
  if (!wide) return static_cast<float>(std::to_integer<int>(*at));
  std::uint16_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return static_cast<float>(value) * scale;
}

class PlainSampler final : public Sampler {
 public:
  PlainSampler(const Plan& plan, std::size_t channels, std::int32_t rows, std::int32_t columns)
      : Sampler(rows, columns, 6),
        channels_(channels),
        wide_(size_of(plan.src.dtype) == 2),
        scale_(255.0F / static_cast<float>((1 << plan.source_bits) - 1)) {
    for (std::size_t c = 0; c < channels; ++c) {
      const ChannelAxes axes = channel_axes(plan, plan.src.channels->sites[c]);
      Channel& channel = channel_[c];
      channel.absent = axes.columns.count() == 0;
      if (channel.absent) continue;
      channel.columns = axes.columns;
      make_taps(axes.x, channel.x);
      make_taps(axes.y, channel.y);
      widest_ = std::max(widest_, axes.columns.count());
    }
  }

  std::size_t workspace_bytes() const noexcept override { return layout(nullptr).bytes; }
  void begin(std::byte*) const override {}

  SampleRows row(const Frame& frame, std::int32_t y, std::byte* workspace) const override {
    const Layout at = layout(workspace);
    SampleRows out;
    out.end = columns();
    for (std::size_t c = 0; c < channels_; ++c) {
      filter(channel_[c], frame.source[c], y, at.blended, at.out[c]);
      out.channel[c] = at.out[c];
    }
    return out;
  }

 private:
  struct Layout {
    std::array<std::int16_t*, 4> out{};
    float* blended = nullptr;
    std::size_t bytes = 0;
  };

  Layout layout(std::byte* workspace) const noexcept {
    WorkspaceCursor cursor(workspace);
    Layout at;
    for (std::size_t c = 0; c < channels_; ++c)
      at.out[c] = cursor.take<std::int16_t>(padded_row(columns()));
    at.blended = cursor.take<float>(static_cast<std::size_t>(widest_));
    at.bytes = cursor.used_bytes();
    return at;
  }

  void filter(const Channel& channel, const SourceChannel& view, std::int32_t y, float* blended,
              std::int16_t* out) const {
    if (channel.absent) {
      std::fill_n(out, columns(), std::int16_t{128 << 6});
      return;
    }
    const auto samples = static_cast<std::size_t>(channel.columns.count());
    std::fill_n(blended, samples, 0.0F);
    const AxisTaps& down = channel.y;
    for (std::int32_t t = 0; t < down.count; ++t) {
      const float weight = down.weight[static_cast<std::size_t>(y * down.count + t)];
      if (weight == 0) continue;
      const std::byte* from = view.row(down.first[static_cast<std::size_t>(y)] + t) +
                              static_cast<std::size_t>(channel.columns.begin) * view.step_bytes;
      for (std::size_t i = 0; i < samples; ++i)
        blended[i] += weight * sample_at(from + i * view.step_bytes, wide_, scale_);
    }
    const AxisTaps& across = channel.x;
    for (std::size_t x = 0; x < static_cast<std::size_t>(columns()); ++x) {
      const float* sample = blended + (across.first[x] - channel.columns.begin);
      const float* weight = &across.weight[x * static_cast<std::size_t>(across.count)];
      float sum = 0;
      for (std::int32_t t = 0; t < across.count; ++t)
        sum += weight[t] * sample[t];
      out[x] = static_cast<std::int16_t>(std::lrint(std::clamp(sum * 64, -32768.0F, 32767.0F)));
    }
  }

  std::size_t channels_;
  bool wide_;
  float scale_;
  std::int32_t widest_ = 1;
  std::array<Channel, 4> channel_;
};

}  // namespace

std::unique_ptr<const Sampler> make_separable(const Plan& plan, std::size_t channels) {
  const bool swaps = plan.swaps_axes();
  return std::make_unique<PlainSampler>(plan, channels,
                                        swaps ? plan.content.width : plan.content.height,
                                        swaps ? plan.content.height : plan.content.width);
}

}  // namespace halyard::image
