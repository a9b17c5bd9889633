// SPDX-License-Identifier: Apache-2.0
// Pad rows.
#include "image/cpu/pad.h"

#include <algorithm>
#include <cstring>

#include "image/cpu/axes.h"
#include "image/cpu/store_value.h"

namespace halyard::image {

PadFill::PadFill(const Plan& plan, const Region& kept) : kept_(kept), size_(plan.dst.size) {
  const ChannelMap& map = *plan.dst.channels;
  const std::size_t sample = size_of(plan.dst.dtype);
  std::array<int, 4> plane_of{-1, -1, -1, -1};
  for (std::size_t c = 0; c < map.count; ++c) {
    // With bgr the frame's red target is where blue lies.
    const std::size_t place = plan.bgr && c != 1 && c != 3 ? 2 - c : c;
    const ChannelSite& site = map.sites[place];
    const auto columns = static_cast<std::size_t>(channel_extent(plan.dst, site).width);
    const std::size_t step = site.step * sample;
    int& index = plane_of[site.plane];
    if (index < 0) {
      index = static_cast<int>(plane_count_++);
      Plane& plane = planes_[static_cast<std::size_t>(index)];
      plane = {static_cast<std::uint8_t>(c),
               site.offset * sample,
               bytes_.size(),
               0,
               step,
               site.shift_x,
               site.shift_y};
    }
    Plane& plane = planes_[static_cast<std::size_t>(index)];
    for (std::size_t x = 0; x < columns; ++x) {
      const std::size_t at = x * step + site.offset * sample;
      plane.row_bytes = std::max(plane.row_bytes, at + sample);
      if (bytes_.size() < plane.row + at + sample) bytes_.resize(plane.row + at + sample);
      store_value(plan.values, plan.dst.dtype, c, static_cast<float>(plan.pad[c]),
                  &bytes_[plane.row + at]);
    }
  }
}

void PadFill::fill_plane(const Frame& frame, const Plane& plane, std::int32_t begin,
                         std::int32_t end) const noexcept {
  const TargetChannel& target = frame.target[plane.channel];
  const auto bytes_before = [&](std::int32_t x) {
    const auto sample = static_cast<std::size_t>((x + (1 << plane.shift_x) - 1) >> plane.shift_x);
    return std::min(sample * plane.step, plane.row_bytes);
  };
  const auto row_at = [&](std::int32_t y) {
    return (y + (1 << plane.shift_y) - 1) >> plane.shift_y;
  };
  const std::size_t left = bytes_before(kept_.x);
  const std::size_t right = bytes_before(kept_.x + kept_.width);
  for (std::int32_t y = row_at(begin); y < row_at(end); ++y) {
    std::byte* to = target.row(y) - plane.offset;
    const std::byte* from = &bytes_[plane.row];
    const bool crosses = y >= row_at(kept_.y) && y < row_at(kept_.y + kept_.height);
    if (!crosses) {
      std::memcpy(to, from, plane.row_bytes);
      continue;
    }
    std::memcpy(to, from, left);
    std::memcpy(to + right, from + right, plane.row_bytes - right);
  }
}

void PadFill::fill(const Frame& frame, std::int32_t begin, std::int32_t end) const noexcept {
  for (std::size_t p = 0; p < plane_count_; ++p)
    fill_plane(frame, planes_[p], begin, end);
}

}  // namespace halyard::image
