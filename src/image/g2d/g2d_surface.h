// SPDX-License-Identifier: Apache-2.0
// Where a tensor lies, as a surface of the blitter.
#pragma once

#include <array>
#include <memory>

#include "halyard/tensor.h"
#include "image/backend.h"
#include "image/g2d/g2d_memory.h"

namespace halyard::image::g2d {

enum class Side { source, destination };

/// A surface and the library's buffers under it; null where there are none.
struct PlacedSurface {
  Surface surface;
  std::array<void*, 2> buffers{};
};

/// Describes the part `part` of an image as a surface with its rectangle; the surface begins a few
/// pixels before the part where the address must be aligned. `image` may be a plain tensor that
/// can be read as an image of this format. Declines memory that the device does not reach,
/// addresses and row pitches that it does not take. Touches no pixel.
Verdict place_surface(const std::shared_ptr<G2dDevice>& device, const Tensor& image,
                      SurfaceFormat format, const Region& part, Side side,
                      PlacedSurface& out) noexcept;

}  // namespace halyard::image::g2d
