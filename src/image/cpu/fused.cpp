// SPDX-License-Identifier: Apache-2.0
// Walks rows through the kernels. What a plan means for them: fused_bind.cpp.
#include "image/cpu/fused.h"

#include <algorithm>
#include <new>

#include "base/format_error.h"

namespace halyard::image {
namespace {

// Rows of results that are turned together: one whole vector of codes for every destination row.
constexpr std::int32_t tile_rows = 64;

// Rows below which a strip is not worth a thread: about 50 us of work at half a pixel a nanosecond.
std::int32_t least_rows(const Plan& plan, std::int32_t columns) noexcept {
  constexpr std::int64_t least_pixels = 50'000;
  const std::int64_t row = std::max<std::int64_t>(columns, plan.crop().width / 2);
  return static_cast<std::int32_t>(std::max<std::int64_t>(least_pixels / row, 1));
}

}  // namespace

Status Fused::run(const Plan& plan) {
  HALYARD_TRY(const TensorMap src, plan.src.map(Access::read));
  HALYARD_TRY(const TensorMap dst, plan.dst.map(Access::write));
  try {
    bind(plan, src, dst);
    const std::int32_t least = least_rows(plan, channels_[0].axes.x.outputs);
    if (plan.swaps_axes()) {
      if (plan.pads()) pad_.fill(0, plan.placement.destination().height);
      parallel_.for_strips(plan.content().width, std::max(least, tile_rows),
                           [&](std::int32_t begin, std::int32_t end, std::size_t slot) {
                             convert_turned(plan, begin, end, slots_[slot]);
                           });
    } else {
      parallel_.for_strips(plan.placement.destination().height, least,
                           [&](std::int32_t begin, std::int32_t end, std::size_t slot) {
                             convert_rows(plan, begin, end, slots_[slot]);
                           });
    }
  } catch (const std::bad_alloc&) {
    return fail(Errc::no_memory, "convert: no working memory");
  }
  return {};
}

void Fused::prepare(const Plan& plan, Slot& slot) const {
  const auto grow = [](auto& row, std::size_t size, auto fill) {
    if (row.size() < size) row.resize(size, fill);
  };
  for (std::size_t c = 0; c < channel_count_; ++c) {
    const Channel& channel = channels_[c];
    const std::int32_t samples = channel.axes.columns.end - groups_[channel.group].begin;
    grow(slot.blended[c], static_cast<std::size_t>(samples) + spare_samples, std::int16_t{0});
    grow(slot.resampled[c], code_stride_, std::int16_t{0});
  }
  const std::size_t rows = plan.swaps_axes() ? tile_rows : 1;
  for (std::size_t c = 0; c < 4; ++c)
    grow(slot.codes[c], rows * code_stride_, std::uint8_t{0});
  if (plan.swaps_axes())
    grow(slot.turned, 4 * turn_side * tile_rows + spare_samples, std::uint8_t{0});
  // Alpha that no source gives is opaque everywhere; a plan before may have left its own.
  if (channel_count_ < 4 && store_.channels == 4) {
    std::fill(slot.codes[3].begin(), slot.codes[3].end(), std::uint8_t{255});
  }
  std::size_t most_rows = 1;
  for (std::size_t g = 0; g < group_count_; ++g) {
    for (const DownTable::Row& row : groups_[g].down.rows)
      most_rows = std::max(most_rows, static_cast<std::size_t>(row.count));
  }
  grow(slot.rows, most_rows, nullptr);
}

void Fused::convert_rows(const Plan& plan, std::int32_t begin, std::int32_t end, Slot& slot) const {
  const Region content = plan.content();
  const bool pads = plan.pads();
  slot.last.fill(-1);
  ColorJob color = color_;
  StoreJob store = store_;
  store.width = content.width;
  for (std::size_t c = 0; c < 4; ++c)
    store.codes[c] = color.codes[c] = slot.codes[c].data();
  for (std::int32_t y = begin; y < end; ++y) {
    if (pads) pad_.fill(y, y + 1);
    if (y < content.y || y >= content.y + content.height) continue;
    make_codes(plan, y - content.y, slot, color);
    point_at(plan, content.x, y, store);
    store_row(store);
  }
}

void Fused::convert_turned(const Plan& plan, std::int32_t begin, std::int32_t end,
                           Slot& slot) const {
  slot.last.fill(-1);
  ColorJob color = color_;
  for (std::int32_t row = begin; row < end; row += tile_rows) {
    const std::int32_t rows = std::min(tile_rows, end - row);
    for (std::int32_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < 4; ++c)
        color.codes[c] = slot.codes[c].data() + static_cast<std::size_t>(r) * code_stride_;
      make_codes(plan, row + r, slot, color);
    }
    store_turned(plan, row, rows, slot);
  }
}

// Column x of the tile becomes a piece of destination row x.
void Fused::store_turned(const Plan& plan, std::int32_t row, std::int32_t rows, Slot& slot) const {
  const Region content = plan.content();
  StoreJob store = store_;
  store.width = rows;
  const auto channels = static_cast<std::size_t>(store.channels);
  for (std::int32_t x = 0; x < content.height; x += turn_side) {
    for (std::size_t c = 0; c < channels; ++c) {
      const std::uint8_t* from = slot.codes[c].data() + x;
      std::uint8_t* to = slot.turned.data() + c * turn_side * tile_rows;
      for (std::int32_t r = 0; r < rows; r += turn_side) {
        transpose_codes(from + static_cast<std::size_t>(r) * code_stride_, code_stride_, to + r,
                        tile_rows);
      }
    }
    for (std::int32_t i = 0; i < std::min(turn_side, content.height - x); ++i) {
      for (std::size_t c = 0; c < channels; ++c)
        store.codes[c] =
            slot.turned.data() + (c * turn_side + static_cast<std::size_t>(i)) * tile_rows;
      point_at(plan, content.x + row, content.y + x + i, store);
      store_row(store);
    }
  }
}

void Fused::point_at(const Plan& plan, std::int32_t x, std::int32_t y, StoreJob& job) const {
  for (std::size_t c = 0; c < static_cast<std::size_t>(job.channels); ++c)
    job.out[c] = target_[c].row(y) + static_cast<std::size_t>(x) * target_[c].step_bytes;
  if (!job.planar) job.out[0] -= plan.dst_channels->sites[0].offset * size_of(plan.dst_dtype);
}

void Fused::make_codes(const Plan& plan, std::int32_t row, Slot& slot, ColorJob& job) const {
  const auto line = [&](const Group& group) {
    const std::int32_t y = group.down.rows[static_cast<std::size_t>(row)].first;
    return reinterpret_cast<const std::uint8_t*>(group.base) +
           static_cast<std::size_t>(y) * group.stride_bytes;
  };
  const auto x = static_cast<std::size_t>(plan.crop().x);
  if (job.feed == Feed::luma_and_pairs) {
    job.bytes = line(groups_[0]) + x;
    job.pairs = line(groups_[1]) + x;  // a pair of bytes for two columns, and x is even
  } else if (job.feed != Feed::rows) {
    job.bytes = line(groups_[0]) + 2 * x;
  } else {
    for (std::size_t g = 0; g < group_count_; ++g)
      blend_group(g, row, slot);
    for (std::size_t c = 0; c < channel_count_; ++c) {
      const Channel& channel = channels_[c];
      if (takes_bytes(channel.group, row)) {
        if (slot.fresh[channel.group]) {
          const Group& group = groups_[channel.group];
          resample_bytes(line(group) + group.begin, channel.across, slot.resampled[c].data());
        }
        job.rows[c] = slot.resampled[c].data();
        continue;
      }
      const bool as_is = channel.across.mode == AcrossTable::Mode::identity;
      if (!as_is && slot.fresh[channel.group]) {
        resample_row(slot.blended[c].data(), channel.across, slot.resampled[c].data());
      }
      job.rows[c] = as_is ? slot.blended[c].data() : slot.resampled[c].data();
    }
    for (std::size_t c = channel_count_; c < 3; ++c)
      job.rows[c] = job.rows[0];  // grey for all colours
  }
  color_row(job);
}

// A row of one channel that is blended with no other needs no row of samples in between.
bool Fused::takes_bytes(std::size_t index, std::int32_t row) const {
  const Group& group = groups_[index];
  if (group.site.step != 1 || group.down.rows[static_cast<std::size_t>(row)].count != 1)
    return false;
  const AcrossTable& across = channels_[static_cast<std::size_t>(group.channel_at[0])].across;
  return across.mode != AcrossTable::Mode::identity && !across.byte_base.empty();
}

void Fused::blend_group(std::size_t index, std::int32_t row, Slot& slot) const {
  const Group& group = groups_[index];
  const DownTable::Row& down = group.down.rows[static_cast<std::size_t>(row)];
  slot.fresh[index] = down.id != slot.last[index];
  if (!slot.fresh[index]) return;
  slot.last[index] = down.id;
  if (takes_bytes(index, row)) return;
  const std::byte* base = group.base + static_cast<std::size_t>(group.begin) * group.site.step;
  for (std::int32_t t = 0; t < down.count; ++t) {
    slot.rows[static_cast<std::size_t>(t)] = reinterpret_cast<const std::uint8_t*>(
        base + static_cast<std::size_t>(down.first + t) * group.stride_bytes);
  }
  BlendJob job;
  job.taps = down.count;
  job.rows = slot.rows.data();
  job.weights = group.down.weights.data() + down.at;
  job.step = group.site.step;
  for (std::size_t k = 0; k < 4; ++k) {
    if (group.channel_at[k] < 0) continue;
    const auto c = static_cast<std::size_t>(group.channel_at[k]);
    job.out[k] = slot.blended[c].data();
    job.samples[k] = channels_[c].axes.columns.end - group.begin;
  }
  blend_rows(job);
}

}  // namespace halyard::image
