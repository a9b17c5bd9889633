// SPDX-License-Identifier: Apache-2.0
// Converts between Orientation and the matrix by which containers describe a video's rotation.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <array>
#include <cstdint>
#include <span>

#include "halyard/geometry.h"

namespace halyard::capture {

/// `bytes`: FFmpeg's display matrix of nine int32 in the machine's byte order. Other bytes, and
/// rotations by angles that are not multiples of 90 degrees, give the default orientation.
Orientation orientation_of_matrix(std::span<const std::uint8_t> bytes) noexcept;

/// The matrix that applies `orientation` to an image of `stored` size and moves its corner back to
/// the origin.
std::array<std::int32_t, 9> matrix_of(Orientation orientation, Size stored) noexcept;

}  // namespace halyard::capture

#endif
