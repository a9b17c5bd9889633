// SPDX-License-Identifier: Apache-2.0
// Where each colour channel of a pixel format lies, so that one reader and one writer serve all
// formats.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "halyard/format.h"
#include "halyard/tensor.h"

namespace halyard::image {

/// Sample i of the channel in a row of `plane` is element offset + i * step. Shifts are log2 of
/// image columns (rows) per sample.
struct ChannelSite {
  std::uint8_t plane;
  std::uint8_t offset;
  std::uint8_t step;
  std::uint8_t shift_x;
  std::uint8_t shift_y;
};

/// Channels in the order of the colour model: R G B A, Y U V, or grey, whatever their order in
/// memory.
struct ChannelMap {
  std::uint8_t count = 0;
  std::array<ChannelSite, 4> sites{};
};

/// Null for formats without colour channels (Bayer).
const ChannelMap* channel_map(PixelFormat format) noexcept;

/// One channel of a mapped image. `columns` and `rows` are the image's, divided by the chroma
/// shifts and rounded up. Fields have no defaults, so that an array of views costs nothing: every
/// call makes eight.
template <class Byte>
struct ChannelView {
  Byte* base;
  std::size_t stride_bytes;
  std::size_t step_bytes;
  std::int32_t columns;
  std::int32_t rows;
  std::uint8_t shift_x;
  std::uint8_t shift_y;

  Byte* row(std::int32_t y) const noexcept {
    return base + static_cast<std::size_t>(y) * stride_bytes;
  }
};

using SourceChannel = ChannelView<const std::byte>;
using TargetChannel = ChannelView<std::byte>;

// Inline: views returned through memory would make eight per call wait for their own stores.
template <class Byte>
inline ChannelView<Byte> channel_view(Byte* base, std::size_t stride_bytes, const ChannelSite& site,
                                      Size size, std::size_t sample_bytes) noexcept {
  const auto rounded_up = [](std::int32_t extent, unsigned shift) {
    return (extent + (1 << shift) - 1) >> shift;
  };
  // The rows hold every sample that rounding up asks for: packed pairs are stored whole.
  return {base + site.offset * sample_bytes,
          stride_bytes,
          site.step * sample_bytes,
          rounded_up(size.width, site.shift_x),
          rounded_up(size.height, site.shift_y),
          site.shift_x,
          site.shift_y};
}
inline SourceChannel source_channel(const TensorMap& map, const ChannelSite& site, Size size,
                                    std::size_t sample_bytes) noexcept {
  const MappedPlane& plane = map.plane(site.plane);
  return channel_view(plane.data, plane.stride_bytes, site, size, sample_bytes);
}
inline TargetChannel target_channel(const TensorMap& map, const ChannelSite& site, Size size,
                                    std::size_t sample_bytes) noexcept {
  const MappedPlane& plane = map.plane(site.plane);
  return channel_view(plane.writable, plane.stride_bytes, site, size, sample_bytes);
}

}  // namespace halyard::image
