// SPDX-License-Identifier: Apache-2.0
// Makes pad rows: one period of bytes is encoded, the rest is copied.
#include "image/cpu/store/pad.h"

#include <algorithm>
#include <cstring>

#include "image/cpu/store/store_value.h"

namespace halyard::image {
namespace {

std::int32_t rounded_up(std::int32_t count, unsigned shift) noexcept {
  return (count + (1 << shift) - 1) >> shift;
}

}  // namespace

PadWriter::PadWriter(const Plan& plan, const Region& kept) {
  if (kept == Region{0, 0, plan.dst.size.width, plan.dst.size.height}) return;
  for (std::size_t s = 0; s < plan.dst.channels->count; ++s)
    plane_count_ = std::max<std::size_t>(plane_count_, plan.dst.channels->sites[s].plane + 1U);
  for (std::size_t p = 0; p < plane_count_; ++p)
    encode(plan, planes_[p], p, kept);
}

void PadWriter::encode(const Plan& plan, Plane& plane, std::size_t index, const Region& kept) {
  const ChannelMap& map = *plan.dst.channels;
  const std::size_t sample = size_of(plan.dst.dtype);
  std::size_t period = 0;
  unsigned period_shift = 0;
  for (std::size_t s = 0; s < map.count; ++s) {
    if (map.sites[s].plane != index) continue;
    period = std::max(period, map.sites[s].step * sample);
    period_shift = std::max<unsigned>(period_shift, map.sites[s].shift_x);
  }
  for (std::size_t s = 0; s < map.count; ++s) {
    const ChannelSite& site = map.sites[s];
    if (site.plane != index) continue;
    // With bgr, the frame's red target is the place of blue.
    const std::size_t c = plan.bgr && s != 1 && s != 3 ? 2 - s : s;
    plane.channel = static_cast<std::uint8_t>(c);
    plane.offset = static_cast<std::uint8_t>(site.offset * sample);
    plane.shift_y = site.shift_y;
    std::byte* first = &plane.pattern[plane.offset];
    store_value(plan.values, plan.dst.dtype, c, static_cast<float>(plan.pad[c]), first);
    for (std::size_t at = site.step * sample; at < period; at += site.step * sample)
      std::memcpy(first + at, first, sample);
  }
  for (std::size_t made = period; made < pattern_bytes; made *= 2)
    std::memcpy(&plane.pattern[made], plane.pattern.data(), std::min(made, pattern_bytes - made));
  const auto bytes_to = [&](std::int32_t x) {
    return static_cast<std::size_t>(rounded_up(x, period_shift)) * period;
  };
  plane.row_bytes = bytes_to(plan.dst.size.width);
  plane.left_bytes = bytes_to(kept.x);
  plane.right_bytes = plane.row_bytes - bytes_to(kept.x + kept.width);
  plane.top = rounded_up(kept.y, plane.shift_y);
  plane.bottom = rounded_up(kept.y + kept.height, plane.shift_y);
}

void PadWriter::fill_plane(const MappedImages& frame, const Plane& plane, std::int32_t begin,
                           std::int32_t end) noexcept {
  const TargetChannel& target = frame.target[plane.channel];
  const std::byte* pattern = plane.pattern.data();
  const auto pad_rows = [&](std::int32_t y, std::int32_t until) {
    if (y >= until) return;
    std::byte* to = target.row(y) - plane.offset;
    if (target.stride_bytes == plane.row_bytes)
      return fill_pattern(pattern, to, static_cast<std::size_t>(until - y) * plane.row_bytes);
    for (; y < until; ++y, to += target.stride_bytes)
      fill_pattern(pattern, to, plane.row_bytes);
  };
  pad_rows(begin, std::min(end, plane.top));
  if (plane.left_bytes != 0 || plane.right_bytes != 0) {
    for (std::int32_t y = std::max(begin, plane.top); y < std::min(end, plane.bottom); ++y) {
      std::byte* to = target.row(y) - plane.offset;
      fill_pattern(pattern, to, plane.left_bytes);
      fill_pattern(pattern, to + plane.row_bytes - plane.right_bytes, plane.right_bytes);
    }
  }
  pad_rows(std::max(begin, plane.bottom), end);
}

void PadWriter::fill(const MappedImages& frame, std::int32_t begin,
                     std::int32_t end) const noexcept {
  for (std::size_t p = 0; p < plane_count_; ++p) {
    const unsigned shift = planes_[p].shift_y;
    fill_plane(frame, planes_[p], rounded_up(begin, shift), rounded_up(end, shift));
  }
}

}  // namespace halyard::image
