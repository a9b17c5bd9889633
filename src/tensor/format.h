// SPDX-License-Identifier: Apache-2.0
// Geometry of planes without the checks of halyard/format.h.
#pragma once

#include <cstddef>

#include "halyard/format.h"

namespace halyard {

/// plane_geometry() without its checks: for an image that was checked when it was made.
PlaneGeometry known_plane_geometry(const FormatInfo& f, std::size_t element_bytes,
                                   std::size_t width, std::size_t height, std::size_t stride_bytes,
                                   std::size_t index) noexcept;

}  // namespace halyard
