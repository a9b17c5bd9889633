// SPDX-License-Identifier: Apache-2.0
// The part of a shader that stores pixels as the bytes of the destination's planes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "image/plan.h"

namespace halyard::image {

/// Planes that one draw makes, so that what they share of a pixel is computed once.
struct PlaneRange {
  std::size_t first = 0;
  std::size_t count = 1;
  friend bool operator==(const PlaneRange&, const PlaneRange&) = default;
};

/// The most planes from `first` on that one draw can make: those whose samples lie alike.
PlaneRange planes_alike(const ImageSpec& dst, std::size_t first) noexcept;

/// The most pixels that one texel of a target is made of.
std::int32_t pixels_of_texel(const ImageSpec& dst) noexcept;

/// main(), the outputs of the shader, and what main() calls beside pixel(). May throw
/// std::bad_alloc.
std::string store_text(const Plan& plan, PlaneRange planes);

}  // namespace halyard::image
