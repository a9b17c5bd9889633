// SPDX-License-Identifier: Apache-2.0
// The table of channel sites, one row per pixel format.
#include "image/channels.h"

#include <algorithm>

namespace halyard::image {
namespace {

constexpr ChannelMap packed(std::uint8_t count, std::uint8_t step, std::uint8_t c0, std::uint8_t c1,
                            std::uint8_t c2, std::uint8_t c3) {
  return {count,
          {{{0, c0, step, 0, 0}, {0, c1, step, 0, 0}, {0, c2, step, 0, 0}, {0, c3, step, 0, 0}}}};
}

// Two luma samples and one of each chroma in four bytes, luma at `y` and `y` + 2.
constexpr ChannelMap paired(std::uint8_t y, std::uint8_t u, std::uint8_t v) {
  return {3, {{{0, y, 2, 0, 0}, {0, u, 4, 1, 0}, {0, v, 4, 1, 0}, {}}}};
}

constexpr ChannelMap semi_planar(std::uint8_t u, std::uint8_t v, std::uint8_t sx, std::uint8_t sy) {
  return {3, {{{0, 0, 1, 0, 0}, {1, u, 2, sx, sy}, {1, v, 2, sx, sy}, {}}}};
}

constexpr ChannelMap planes(std::uint8_t count, std::uint8_t chroma_shift) {
  return {count,
          {{{0, 0, 1, 0, 0},
            {1, 0, 1, chroma_shift, chroma_shift},
            {2, 0, 1, chroma_shift, chroma_shift},
            {3, 0, 1, 0, 0}}}};
}

constexpr ChannelMap table[] = {
    paired(0, 1, 3),           // yuyv
    semi_planar(0, 1, 1, 1),   // nv12
    semi_planar(0, 1, 1, 0),   // nv16
    packed(4, 4, 0, 1, 2, 3),  // rgba
    packed(3, 3, 0, 1, 2, 0),  // rgb
    packed(1, 1, 0, 0, 0, 0),  // grey
    planes(3, 0),              // planar_rgb
    planes(4, 0),              // planar_rgba
    packed(4, 4, 2, 1, 0, 3),  // bgra
    paired(1, 2, 0),           // vyuy
    semi_planar(0, 1, 0, 0),   // nv24
    paired(1, 0, 2),           // uyvy
    paired(0, 3, 1),           // yvyu
    semi_planar(1, 0, 1, 1),   // nv21
    planes(3, 1),              // i420
    packed(3, 3, 2, 1, 0, 0),  // bgr
};

template <class Byte>
ChannelView<Byte> view(Byte* base, const MappedPlane& plane, const ChannelSite& site, Size size,
                       std::size_t sample_bytes) noexcept {
  const auto rounded_up = [](std::int32_t extent, unsigned shift) {
    return (extent + (1 << shift) - 1) >> shift;
  };
  ChannelView<Byte> out;
  out.base = base + site.offset * sample_bytes;
  out.stride_bytes = plane.stride_bytes;
  out.step_bytes = site.step * sample_bytes;
  out.shift_x = site.shift_x;
  out.shift_y = site.shift_y;
  const std::size_t samples = plane.row_bytes / sample_bytes;
  const std::size_t held =
      samples > site.offset ? (samples - site.offset + site.step - 1U) / site.step : 0;
  out.columns = std::min(rounded_up(size.width, site.shift_x), static_cast<std::int32_t>(held));
  out.rows = std::min(rounded_up(size.height, site.shift_y), static_cast<std::int32_t>(plane.rows));
  return out;
}

}  // namespace

const ChannelMap* channel_map(PixelFormat format) noexcept {
  const auto index = static_cast<std::size_t>(format);
  return index < std::size(table) ? &table[index] : nullptr;
}

SourceChannel source_channel(const TensorMap& map, const ChannelSite& site, Size size,
                             std::size_t sample_bytes) noexcept {
  const MappedPlane& plane = map.plane(site.plane);
  return view(plane.data, plane, site, size, sample_bytes);
}

TargetChannel target_channel(const MappedPlane& plane, const ChannelSite& site, Size size,
                             std::size_t sample_bytes) noexcept {
  return view(plane.writable, plane, site, size, sample_bytes);
}

TargetChannel target_channel(const TensorMap& map, const ChannelSite& site, Size size,
                             std::size_t sample_bytes) noexcept {
  return target_channel(map.plane(site.plane), site, size, sample_bytes);
}

}  // namespace halyard::image
