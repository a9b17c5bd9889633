// SPDX-License-Identifier: Apache-2.0
// Affine sampler: the centre of each destination pixel is mapped back to the source and filtered
// there.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "image/cpu/affine/affine_bayer.h"
#include "image/cpu/affine/affine_window.h"
#include "image/cpu/kernels/blend.h"
#include "image/cpu/resample/axes.h"
#include "image/cpu/resample/sampler.h"

namespace halyard::image {
namespace {

/// One source coordinate along a row of the destination, in pixels. It has the same bits wherever
/// it is computed.
struct Line {
  double begin;
  double step;
  double at(std::int32_t x) const noexcept { return begin + step * x; }
};

/// Columns [begin, end).
struct ColumnRange {
  std::int32_t begin;
  std::int32_t end;
};

// Returns the first column for which `is` holds. `is` must be false up to a column and true from
// there on.
template <class Is>
std::int32_t first_column(std::int32_t columns, const Is& is) noexcept {
  std::int32_t low = 0;
  std::int32_t high = columns;
  while (low < high) {
    const std::int32_t middle = low + (high - low) / 2;
    if (is(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Returns the columns whose coordinate lies in [low, high). Rounding keeps the order of
// coordinates, so that these columns are an interval to the last bit.
ColumnRange columns_within(const Line& line, double low, double high,
                           std::int32_t columns) noexcept {
  if (line.step >= 0) {
    return {first_column(columns, [&](std::int32_t x) { return line.at(x) >= low; }),
            first_column(columns, [&](std::int32_t x) { return line.at(x) >= high; })};
  }
  return {first_column(columns, [&](std::int32_t x) { return line.at(x) < high; }),
          first_column(columns, [&](std::int32_t x) { return line.at(x) < low; })};
}

/// Channels with the same sample positions, and how they are filtered.
struct AffineGroup {
  enum class Way { nearest, two, taps };
  std::size_t begin = 0;
  std::size_t end = 0;
  AffineAxis x;
  AffineAxis y;
  double per_pixel_x = 1;  ///< samples per image pixel
  double per_pixel_y = 1;
  Way way = Way::taps;
};

class AffineSampler final : public Sampler {
 public:
  AffineSampler(const Plan& plan, std::size_t channels, int fraction)
      : Sampler(plan.content.height, plan.content.width, fraction),
        back_(inverse(*plan.affine)),
        crop_(plan.crop),
        content_(plan.content),
        kernel_(plan.filter, plan.antialias),
        sample_bytes_(size_of(plan.src.dtype)),
        scale_(255.0F / static_cast<float>((1 << plan.source_bits) - 1)),
        channels_(channels),
        mosaic_(plan.src.format, plan.src.size) {
    is_mosaic_ = plan.src.channels == nullptr;
    for (std::size_t c = 0; c < channels; ++c)
      add_channel(plan, c);
    for (std::size_t g = 0; g < group_count_; ++g)
      choose_way(groups_[g]);
  }

  std::size_t workspace_bytes() const noexcept override { return lay_out(nullptr).bytes; }
  void begin(std::byte*) const override {}

  SampleRows row(const MappedImages& frame, std::int32_t y, std::byte* workspace) const override {
    const Workspace at = lay_out(workspace);
    const double centre_x = content_.x + 0.5;
    const double centre_y = content_.y + y + 0.5;
    const auto& m = back_.m;
    const Line x{m[0] * centre_x + (m[1] * centre_y + m[2]), m[0]};
    const Line v{m[3] * centre_x + (m[4] * centre_y + m[5]), m[3]};
    const ColumnRange in_x = columns_within(x, crop_.x, crop_.x + crop_.width, columns());
    const ColumnRange in_y = columns_within(v, crop_.y, crop_.y + crop_.height, columns());
    SampleRows out;
    out.begin = std::max(in_x.begin, in_y.begin);
    out.end = std::max(std::min(in_x.end, in_y.end), out.begin);
    for (std::size_t c = 0; c < channels_; ++c) {
      std::fill_n(at.out[c], padded_row(columns()), std::int16_t{0});
      out.channel[c] = at.out[c];
    }
    for (std::size_t g = 0; g < group_count_; ++g)
      filter(frame, groups_[g], x, v, {out.begin, out.end}, at);
    return out;
  }

 private:
  struct Workspace {
    std::array<std::int16_t*, 4> out{};
    float* weights_x = nullptr;
    float* weights_y = nullptr;
    std::int32_t* sample_x = nullptr;  ///< of each column: its first sample, ...
    std::int32_t* sample_y = nullptr;
    std::int32_t* beside = nullptr;  ///< ... 1 if there is another beside (below) it, else 0, ...
    std::int32_t* below = nullptr;
    std::int16_t* right = nullptr;  ///< ... and the distance towards it in 1/32768
    std::int16_t* fraction_y = nullptr;
    std::array<std::uint8_t*, 4> corner{};
    std::size_t bytes = 0;
  };

  Workspace lay_out(std::byte* workspace) const noexcept {
    WorkspaceCursor cursor(workspace);
    Workspace at;
    const std::size_t row = padded_row(columns());
    for (std::size_t c = 0; c < channels_; ++c)
      at.out[c] = cursor.take<std::int16_t>(row);
    at.weights_x = cursor.take<float>(max_taps_);
    at.weights_y = cursor.take<float>(max_taps_);
    at.sample_x = cursor.take<std::int32_t>(row);
    at.sample_y = cursor.take<std::int32_t>(row);
    at.beside = cursor.take<std::int32_t>(row);
    at.below = cursor.take<std::int32_t>(row);
    at.right = cursor.take<std::int16_t>(row);
    at.fraction_y = cursor.take<std::int16_t>(row);
    for (std::uint8_t*& corner : at.corner)
      corner = cursor.take<std::uint8_t>(row);
    at.bytes = cursor.used_bytes();
    return at;
  }

  void add_channel(const Plan& plan, std::size_t c) {
    const ChannelSite site = is_mosaic_ ? ChannelSite{0, 0, 1, 0, 0} : plan.src.channels->sites[c];
    const ChannelAxes axes = channel_axes(plan, site);
    AffineGroup group;
    group.begin = c;
    group.end = c + 1;
    group.per_pixel_x = 1.0 / (1 << site.shift_x);
    group.per_pixel_y = 1.0 / (1 << site.shift_y);
    group.x = {axes.columns.begin, axes.columns.end,
               std::hypot(back_.m[0], back_.m[1]) * group.per_pixel_x};
    group.y = {axes.rows.begin, axes.rows.end,
               std::hypot(back_.m[3], back_.m[4]) * group.per_pixel_y};
    if (group_count_ != 0 && groups_[group_count_ - 1].per_pixel_x == group.per_pixel_x &&
        groups_[group_count_ - 1].per_pixel_y == group.per_pixel_y) {
      groups_[group_count_ - 1].end = c + 1;
    } else {
      groups_[group_count_++] = group;
    }
  }

  void choose_way(AffineGroup& group) noexcept {
    max_taps_ = std::max({max_taps_, kernel_.max_taps(group.x), kernel_.max_taps(group.y)});
    if (sample_bytes_ != 1 || is_mosaic_) return;
    if (kernel_.takes_nearest(group.x) && kernel_.takes_nearest(group.y))
      group.way = AffineGroup::Way::nearest;
    if (kernel_.takes_two(group.x) && kernel_.takes_two(group.y)) group.way = AffineGroup::Way::two;
  }

  void filter(const MappedImages& frame, const AffineGroup& group, const Line& x, const Line& y,
              ColumnRange in, const Workspace& at) const noexcept {
    if (in.begin == in.end) return;
    switch (group.way) {
      case AffineGroup::Way::nearest:
        return take_nearest(frame, group, x, y, in, at);
      case AffineGroup::Way::two:
        return blend_two(frame, group, x, y, in, at);
      case AffineGroup::Way::taps:
        break;
    }
    if (is_mosaic_) {
      sum_taps(frame, group, x, y, in, at,
               [this](const auto&... all) { return mosaic_sum(all...); });
    } else if (sample_bytes_ == 1) {
      sum_taps(frame, group, x, y, in, at, plain_sum<std::uint8_t>);
    } else {
      sum_taps(frame, group, x, y, in, at, plain_sum<std::uint16_t>);
    }
  }

  void take_nearest(const MappedImages& frame, const AffineGroup& group, const Line& x,
                    const Line& y, ColumnRange in, const Workspace& at) const noexcept {
    for (std::int32_t i = in.begin; i < in.end; ++i) {
      at.sample_x[i] = sample_under(group.x, x.at(i) * group.per_pixel_x);
      at.sample_y[i] = sample_under(group.y, y.at(i) * group.per_pixel_y);
    }
    for (std::size_t c = group.begin; c < group.end; ++c) {
      const SourceChannel& source = frame.source[c];
      for (std::int32_t i = in.begin; i < in.end; ++i) {
        const std::byte* from = source.row(at.sample_y[i]) +
                                static_cast<std::size_t>(at.sample_x[i]) * source.step_bytes;
        at.out[c][i] = static_cast<std::int16_t>(std::to_integer<int>(*from) << 7);
      }
    }
  }

  // Finds two samples and their weights. Truncation works as floor: coordinates within the crop are
  // not negative.
  static void pairs(const AffineAxis& axis, double per_pixel, const Line& line, ColumnRange in,
                    std::int32_t* sample, std::int32_t* other, std::int16_t* way) noexcept {
    const std::int32_t last = axis.highest - 1;
    for (std::int32_t i = in.begin; i < in.end; ++i) {
      const double place = line.at(i) * per_pixel + (0.5 + 0.5 / 32768);  // rounds the weight
      const auto next = static_cast<std::int32_t>(place);
      const auto parts = static_cast<std::int32_t>((place - next) * 32768);
      const std::int32_t first = std::clamp(next - 1, axis.lowest, last);
      sample[i] = first;
      other[i] = std::clamp(next, axis.lowest, last) - first;
      way[i] = static_cast<std::int16_t>(parts);
    }
  }

  void blend_two(const MappedImages& frame, const AffineGroup& group, const Line& x, const Line& y,
                 ColumnRange in, const Workspace& at) const noexcept {
    pairs(group.x, group.per_pixel_x, x, in, at.sample_x, at.beside, at.right);
    pairs(group.y, group.per_pixel_y, y, in, at.sample_y, at.below, at.fraction_y);
    const auto first = static_cast<std::size_t>(in.begin);
    const auto count = static_cast<std::size_t>(in.end - in.begin);
    BlendJob job;
    job.fraction_x = at.right + first;
    job.fraction_y = at.fraction_y + first;
    for (std::size_t k = 0; k < 4; ++k)
      job.corner[k] = at.corner[k] + first;
    for (std::size_t c = group.begin; c < group.end; ++c) {
      gather_corners(frame.source[c], in, at);
      blend_corners(job, count, at.out[c] + first);
    }
  }

  static void gather_corners(const SourceChannel& source, ColumnRange in,
                             const Workspace& at) noexcept {
    const std::size_t step = source.step_bytes;
    const std::size_t stride = source.stride_bytes;
    for (std::int32_t i = in.begin; i < in.end; ++i) {
      const auto* from = reinterpret_cast<const std::uint8_t*>(source.row(at.sample_y[i])) +
                         static_cast<std::size_t>(at.sample_x[i]) * step;
      const std::size_t right = static_cast<std::size_t>(at.beside[i]) * step;
      const std::size_t below = static_cast<std::size_t>(at.below[i]) * stride;
      at.corner[0][i] = from[0];
      at.corner[1][i] = from[right];
      at.corner[2][i] = from[below];
      at.corner[3][i] = from[below + right];
    }
  }

  /// Both windows of one position.
  struct Taps {
    AffineWindow x;
    AffineWindow y;
    const float* weights_x;
    const float* weights_y;
  };

  template <class T>
  static float plain_sum(const MappedImages& frame, std::size_t c, const Taps& taps) noexcept {
    const SourceChannel& source = frame.source[c];
    const std::byte* row =
        source.row(taps.y.first) + static_cast<std::size_t>(taps.x.first) * source.step_bytes;
    float sum = 0;
    for (std::int32_t r = 0; r < taps.y.count; ++r, row += source.stride_bytes) {
      const std::byte* from = row;
      float horizontal = 0;
      for (std::int32_t k = 0; k < taps.x.count; ++k, from += source.step_bytes) {
        T sample;
        std::memcpy(&sample, from, sizeof sample);
        horizontal += taps.weights_x[k] * static_cast<float>(sample);
      }
      sum += taps.weights_y[r] * horizontal;
    }
    return sum;
  }

  float mosaic_sum(const MappedImages& frame, std::size_t c, const Taps& taps) const noexcept {
    float sum = 0;
    for (std::int32_t r = 0; r < taps.y.count; ++r) {
      for (std::int32_t k = 0; k < taps.x.count; ++k) {
        sum += taps.weights_y[r] * taps.weights_x[k] *
               mosaic_.at(frame.source[0], sample_bytes_, c, taps.x.first + k, taps.y.first + r);
      }
    }
    return sum;
  }

  /// `sum` filters one channel at one position, in the unit of the samples.
  template <class Sum>
  void sum_taps(const MappedImages& frame, const AffineGroup& group, const Line& x, const Line& y,
                ColumnRange in, const Workspace& at, const Sum& sum) const noexcept {
    const float one = scale_ * static_cast<float>(1 << fraction());
    for (std::int32_t i = in.begin; i < in.end; ++i) {
      const Taps taps{kernel_.window(group.x, x.at(i) * group.per_pixel_x, at.weights_x),
                      kernel_.window(group.y, y.at(i) * group.per_pixel_y, at.weights_y),
                      at.weights_x, at.weights_y};
      for (std::size_t c = group.begin; c < group.end; ++c) {
        const float value = sum(frame, c, taps) * one;
        at.out[c][i] =
            static_cast<std::int16_t>(std::lrint(std::clamp(value, -32768.0F, 32767.0F)));
      }
    }
  }

  Affine back_;
  RegionF crop_;
  Region content_;
  AffineKernel kernel_;
  std::size_t sample_bytes_;
  float scale_;
  std::size_t channels_;
  bool is_mosaic_ = false;
  Mosaic mosaic_;
  std::array<AffineGroup, 4> groups_;
  std::size_t group_count_ = 0;
  std::size_t max_taps_ = 1;
};

}  // namespace

std::unique_ptr<const Sampler> make_affine(const Plan& plan, std::size_t channels) {
  const bool overshoots = plan.filter == Filter::bicubic || plan.filter == Filter::lanczos3;
  return std::make_unique<AffineSampler>(plan, channels, overshoots ? 6 : 7);
}

}  // namespace halyard::image
