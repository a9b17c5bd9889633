// SPDX-License-Identifier: Apache-2.0
// Scalar conversion: filter each channel on its plane, change colours once, round, store.
#include "image/cpu/oracle.h"

#include <algorithm>
#include <new>

#include "base/format_error.h"

namespace halyard::image {

Status Oracle::run(const Plan& plan) {
  HALYARD_TRY(const TensorMap src, plan.src.map(Access::read));
  HALYARD_TRY(const TensorMap dst, plan.dst.map(Access::write));
  try {
    return execute(plan, src, dst);
  } catch (const std::bad_alloc&) {
    return fail(Errc::no_memory, "convert: no working memory");
  }
}

void Oracle::bind(const Plan& plan, const TensorMap& src, const TensorMap& dst) {
  for (std::size_t c = 0; c < plan.src_channels->count; ++c) {
    Channel& channel = channels_[c];
    channel.view = source_channel(src, plan.src_channels->sites[c], plan.placement.source(), 1);
    channel.axes = channel_axes(plan, channel.view);
    if (channel.axes.columns.count() == 0) continue;
    make_taps(channel.axes.x, channel.x);
    make_taps(channel.axes.y, channel.y);
  }
  subsampled_ = false;
  for (std::size_t c = 0; c < plan.dst_channels->count; ++c) {
    target_[c] = target_channel(dst, plan.dst_channels->sites[c], plan.placement.destination(),
                                size_of(plan.dst_dtype));
    subsampled_ |= target_[c].shift_x != 0 || target_[c].shift_y != 0;
  }
}

Status Oracle::execute(const Plan& plan, const TensorMap& src, const TensorMap& dst) {
  bind(plan, src, dst);
  const Size size = plan.placement.destination();
  if (subsampled_) {
    const auto pixels =
        static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
    for (std::size_t c = 0; c < 3; ++c)
      whole_[c].assign(pixels, static_cast<float>(plan.pad[c]));
  } else if (plan.pads()) {
    pad_.prepare(plan, target_);
    pad_.fill(0, size.height);
  }
  const Region content = plan.content();
  const std::int32_t rows = plan.swaps_axes() ? content.width : content.height;
  const std::int32_t columns = plan.swaps_axes() ? content.height : content.width;
  // A strip below this many pixels costs less than handing it to a thread.
  constexpr std::int32_t least_pixels = 1 << 14;
  parallel_.for_strips(rows, std::max(1, least_pixels / columns),
                       [&](std::int32_t begin, std::int32_t end, std::size_t slot) {
                         for (std::int32_t row = begin; row < end; ++row)
                           convert_row(plan, row, slots_[slot]);
                       });
  if (subsampled_) store_blocks(plan);
  return {};
}

// Down first, then across: the sums are the same, and each row is read in order.
void Oracle::filter_row(const Channel& channel, std::int32_t y, std::vector<float>& blended,
                        std::vector<float>& out) const {
  out.resize(static_cast<std::size_t>(channel.axes.x.outputs));
  const SampleRange columns = channel.axes.columns;
  if (columns.count() == 0) {
    std::fill(out.begin(), out.end(), 128.0F);
    return;
  }
  blended.assign(static_cast<std::size_t>(columns.count()), 0.0F);
  const AxisTaps& down = channel.y;
  for (std::int32_t t = 0; t < down.count; ++t) {
    const auto tap = static_cast<std::size_t>(y) * static_cast<std::size_t>(down.count) +
                     static_cast<std::size_t>(t);
    const float weight = down.weight[tap];
    if (weight == 0) continue;
    const std::byte* sample = channel.view.row(down.first[static_cast<std::size_t>(y)] + t) +
                              static_cast<std::size_t>(columns.begin) * channel.view.step_bytes;
    for (float& sum : blended) {
      sum += weight * static_cast<float>(std::to_integer<std::uint8_t>(*sample));
      sample += channel.view.step_bytes;
    }
  }
  const AxisTaps& across = channel.x;
  for (std::size_t x = 0; x < out.size(); ++x) {
    const float* sample = &blended[static_cast<std::size_t>(across.first[x] - columns.begin)];
    const float* weight = &across.weight[x * static_cast<std::size_t>(across.count)];
    float sum = 0;
    for (std::int32_t t = 0; t < across.count; ++t)
      sum += weight[t] * sample[t];
    out[x] = std::clamp(sum, 0.0F, 255.0F);  // wide kernels overshoot
  }
}

void Oracle::convert_row(const Plan& plan, std::int32_t row, Slot& slot) {
  const std::size_t count = plan.src_channels->count;
  for (std::size_t c = 0; c < count; ++c)
    filter_row(channels_[c], row, slot.blended, slot.filtered[c]);
  const Region content = plan.content();
  const bool swaps = plan.swaps_axes();
  const auto columns = static_cast<std::int32_t>(slot.filtered[0].size());
  for (std::int32_t column = 0; column < columns; ++column) {
    Pixel in{};
    for (std::size_t c = 0; c < count; ++c)
      in[c] = static_cast<double>(slot.filtered[c][static_cast<std::size_t>(column)]);
    const std::int32_t x = content.x + (swaps ? row : column);
    const std::int32_t y = content.y + (swaps ? column : row);
    put(plan, x, y, plan.color.apply(in));
  }
}

void Oracle::put(const Plan& plan, std::int32_t x, std::int32_t y, const Pixel& pixel) {
  if (subsampled_) {
    const auto index =
        static_cast<std::size_t>(y) * static_cast<std::size_t>(plan.placement.destination().width) +
        static_cast<std::size_t>(x);
    for (std::size_t c = 0; c < 3; ++c)
      whole_[c][index] = static_cast<float>(pixel[c]);
    return;
  }
  for (std::size_t c = 0; c < plan.dst_channels->count; ++c) {
    std::byte* to = target_[c].row(y) + static_cast<std::size_t>(x) * target_[c].step_bytes;
    store_code(plan, c, round_to_code(pixel[c]), to);
  }
}

// Each stored sample is the mean of the pixels of its block that exist.
void Oracle::store_blocks(const Plan& plan) {
  const Size size = plan.placement.destination();
  for (std::size_t c = 0; c < 3; ++c) {
    const TargetChannel& channel = target_[c];
    const std::int32_t block_width = 1 << channel.shift_x;
    const std::int32_t block_height = 1 << channel.shift_y;
    for (std::int32_t y = 0; y < channel.rows; ++y) {
      for (std::int32_t x = 0; x < channel.columns; ++x) {
        double sum = 0;
        int count = 0;
        for (std::int32_t j = y * block_height; j < std::min((y + 1) * block_height, size.height);
             ++j) {
          for (std::int32_t i = x * block_width; i < std::min((x + 1) * block_width, size.width);
               ++i) {
            sum += static_cast<double>(
                whole_[c][static_cast<std::size_t>(j) * static_cast<std::size_t>(size.width) +
                          static_cast<std::size_t>(i)]);
            ++count;
          }
        }
        store_code(plan, c, round_to_code(sum / count),
                   channel.row(y) + static_cast<std::size_t>(x) * channel.step_bytes);
      }
    }
  }
}

}  // namespace halyard::image
