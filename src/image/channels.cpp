// SPDX-License-Identifier: Apache-2.0
// The table of channel sites, one row per pixel format.
#include "image/channels.h"

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

}  // namespace

const ChannelMap* channel_map(PixelFormat format) noexcept {
  const auto index = static_cast<std::size_t>(format);
  return index < std::size(table) ? &table[index] : nullptr;
}

}  // namespace halyard::image
