// SPDX-License-Identifier: Apache-2.0
// Palette: the colour type of everything that is drawn, and one colour for each class or track.
#pragma once

#include <cstdint>

#include "halyard/export.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Red, green, blue and alpha, 0..255; an alpha of 255 is opaque.
struct Color {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
  std::uint8_t a = 255;
  friend bool operator==(const Color&, const Color&) = default;
};

/// What selects the colour of a detection: its class, its index in the list, or its track.
enum class ColorBy : std::uint8_t { label = 0, instance = 1, track = 2 };

/// A well separated, opaque colour for a class index or track id; the same index always has the
/// same colour. Thread-safe.
Color palette_color(std::uint64_t index) noexcept;

}  // namespace halyard
HALYARD_EXPORTS_END
