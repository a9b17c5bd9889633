// SPDX-License-Identifier: Apache-2.0
// Where each colour channel of a pixel format lies: what makes one reader and one writer enough.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "halyard/format.h"
#include "halyard/tensor.h"

namespace halyard::image {

/// Sample i of the channel in a row of `plane` lies at element offset + i * step. Shifts are log2
/// of picture columns (rows) per sample.
struct ChannelSite {
  std::uint8_t plane;
  std::uint8_t offset;
  std::uint8_t step;
  std::uint8_t shift_x;
  std::uint8_t shift_y;
};

/// Channels in the order of the colour model: R G B A, Y U V, or grey, whatever the byte order.
struct ChannelMap {
  std::uint8_t count = 0;
  std::array<ChannelSite, 4> sites{};
};

/// Null for formats without colour channels of their own (Bayer).
const ChannelMap* channel_map(PixelFormat format) noexcept;

/// One channel of a mapped picture. `columns` may be one short of the chroma rounding rule where
/// the row ends early (the last Cr of an odd-width YUYV); 0 means that there is no sample at all.
template <class Byte>
struct ChannelView {
  Byte* base = nullptr;
  std::size_t stride_bytes = 0;
  std::size_t step_bytes = 0;
  std::int32_t columns = 0;
  std::int32_t rows = 0;
  std::uint8_t shift_x = 0;
  std::uint8_t shift_y = 0;

  Byte* row(std::int32_t y) const noexcept {
    return base + static_cast<std::size_t>(y) * stride_bytes;
  }
};

using SourceChannel = ChannelView<const std::byte>;
using TargetChannel = ChannelView<std::byte>;

SourceChannel source_channel(const TensorMap& map, const ChannelSite& site, Size size,
                             std::size_t sample_bytes) noexcept;
TargetChannel target_channel(const MappedPlane& plane, const ChannelSite& site, Size size,
                             std::size_t sample_bytes) noexcept;
TargetChannel target_channel(const TensorMap& map, const ChannelSite& site, Size size,
                             std::size_t sample_bytes) noexcept;

}  // namespace halyard::image
