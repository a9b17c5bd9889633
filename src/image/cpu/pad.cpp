// SPDX-License-Identifier: Apache-2.0
// Pad rows.
#include "image/cpu/pad.h"

#include <cstring>

namespace halyard::image {

void store_code(const Plan& plan, std::size_t c, std::uint8_t code, std::byte* to) noexcept {
  if (plan.dst_dtype == DType::f32) {
    const float value = plan.values.to_float(code, c);
    std::memcpy(to, &value, sizeof value);
    return;
  }
  const bool is_alpha = c == 3;
  *to = static_cast<std::byte>(plan.values.to_byte(code, c, is_alpha));
}

void PadRow::prepare(const Plan& plan, const std::array<TargetChannel, 4>& target) {
  content_ = plan.content();
  size_ = plan.placement.destination();
  plane_count_ = 0;
  const ChannelMap& map = *plan.dst_channels;
  const std::size_t sample = size_of(plan.dst_dtype);
  const auto width = static_cast<std::size_t>(size_.width);
  bytes_.resize(width * 4 * sample);
  std::size_t offset = 0;
  std::array<int, 4> plane_of{-1, -1, -1, -1};
  for (std::size_t c = 0; c < map.count; ++c) {
    const ChannelSite& site = map.sites[c];
    int& plane = plane_of[site.plane];
    if (plane < 0) {
      plane = static_cast<int>(plane_count_++);
      Plane& entry = planes_[static_cast<std::size_t>(plane)];
      entry = {target[c], offset};
      entry.channel.base -= site.offset * sample;
      offset += width * target[c].step_bytes;
    }
    const std::size_t start =
        planes_[static_cast<std::size_t>(plane)].offset + site.offset * sample;
    for (std::size_t x = 0; x < width; ++x) {
      store_code(plan, c, round_to_code(plan.pad[c]), &bytes_[start + x * target[c].step_bytes]);
    }
  }
}

void PadRow::fill_columns(std::int32_t y, std::int32_t begin, std::int32_t end) const noexcept {
  if (begin >= end) return;
  for (std::size_t p = 0; p < plane_count_; ++p) {
    const TargetChannel& channel = planes_[p].channel;
    std::memcpy(channel.row(y) + static_cast<std::size_t>(begin) * channel.step_bytes,
                &bytes_[planes_[p].offset],
                static_cast<std::size_t>(end - begin) * channel.step_bytes);
  }
}

void PadRow::fill(std::int32_t begin, std::int32_t end) const noexcept {
  for (std::int32_t y = begin; y < end; ++y) {
    if (y < content_.y || y >= content_.y + content_.height) {
      fill_columns(y, 0, size_.width);
    } else {
      fill_columns(y, 0, content_.x);
      fill_columns(y, content_.x + content_.width, size_.width);
    }
  }
}

}  // namespace halyard::image
