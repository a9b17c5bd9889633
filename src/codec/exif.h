// SPDX-License-Identifier: Apache-2.0
// The one EXIF tag that Halyard reads and writes: the orientation. It is reported, never applied.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "halyard/codec.h"

namespace halyard::codec {

/// Value 1..8 of tag 0x0112 in the first directory; 0 when it is absent, malformed or another
/// value. `payload` starts with "Exif\0\0" (JPEG APP1). Any bytes are safe.
int exif_orientation(std::span<const std::byte> payload);

/// As above, for a payload that starts with the TIFF header (PNG eXIf).
int exif_orientation_of_tiff(std::span<const std::byte> tiff);

/// The orientation that makes an image with this tag upright: flip first, then rotate clockwise.
Orientation orientation_of_tag(int tag) noexcept;
/// The tag 1..8 of this orientation.
int tag_of(Orientation orientation) noexcept;

/// An EXIF block that holds only the orientation, as in a JPEG's APP1 segment: "Exif\0\0" and a
/// TIFF directory of one entry.
inline constexpr std::size_t exif_prefix_bytes = 6;
using ExifBlock = std::array<unsigned char, exif_prefix_bytes + 26>;
ExifBlock exif_block(Orientation orientation) noexcept;

}  // namespace halyard::codec
