// SPDX-License-Identifier: Apache-2.0
// Plan: a request, checked and completed. Backends read it and decide nothing.
#pragma once

#include <array>
#include <cstdint>

#include "halyard/image.h"
#include "image/channels.h"
#include "image/color_step.h"
#include "image/value_map.h"

namespace halyard::image {

/// What a backend computes, in this order:
/// 1. each channel of the source is filtered on its own plane from `crop` to `content`, flipped,
/// then
///    rotated before the fit. Chroma lies over the same rectangle: picture column x is chroma
///    column (x + 0.5) / 2^shift - 0.5. Samples outside the crop are not read (edge samples
///    repeat);
/// 2. `color`, once, then the clamp to [0, 255], then the rounding to 8 bits, halves up;
/// 3. `values` gives what is stored. Subsampled destinations store the mean chroma of each block;
/// 4. the rest of the destination holds `pad`, passed through `values` too.
/// Invariants: both tensors are pictures with a channel map; u8 source; crop and content not empty
/// and inside; source and destination share no bytes.
struct Plan {
  Tensor src;
  Tensor dst;
  PixelFormat src_format{};
  PixelFormat dst_format{};
  DType dst_dtype = DType::u8;
  const ChannelMap* src_channels = nullptr;
  const ChannelMap* dst_channels = nullptr;
  Placement placement;  ///< source size, crop, destination size, content
  Flip flip = Flip::none;
  Rotation rotation = Rotation::none;
  Size turned;             ///< of the crop after the rotation; content's size when not resampled
  bool resampled = false;  ///< content and turned differ
  Filter filter = Filter::bilinear;
  bool antialias = false;
  bool replicates_chroma = false;  ///< 1:1 without Chroma::bilinear: chroma is taken by `nearest`
  ColorStep color;
  Pixel pad{};  ///< in destination channels, codes not rounded
  ValueMap values;

  Region crop() const noexcept {
    const RegionF crop = placement.crop();
    return {static_cast<std::int32_t>(crop.x), static_cast<std::int32_t>(crop.y),
            static_cast<std::int32_t>(crop.width), static_cast<std::int32_t>(crop.height)};
  }
  Region content() const noexcept { return placement.content(); }
  bool swaps_axes() const noexcept {
    return rotation == Rotation::cw90 || rotation == Rotation::cw270;
  }
  bool pads() const noexcept {
    return content() != Region{0, 0, placement.destination().width, placement.destination().height};
  }
};

/// Checks the request and resolves all that it leaves open. Touches no pixel.
/// Errors: those of Processor::convert, but for the mapping.
Result<Plan> make_plan(const Convert& request);

}  // namespace halyard::image
