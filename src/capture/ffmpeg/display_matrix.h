// SPDX-License-Identifier: Apache-2.0
// The matrix by which containers say how a video is turned, from and to Orientation.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <array>
#include <cstdint>
#include <span>

#include "halyard/geometry.h"

namespace halyard::capture {

/// FFmpeg's display matrix, as bytes of nine int32 in the machine's order. Turns by other than
/// quarter circles, and bytes that are no matrix, are no orientation.
Orientation orientation_of_matrix(std::span<const std::uint8_t> bytes) noexcept;

/// The matrix that turns an image of `stored` size, its corner moved back to the origin.
std::array<std::int32_t, 9> matrix_of(Orientation orientation, Size stored) noexcept;

}  // namespace halyard::capture

#endif
