// SPDX-License-Identifier: Apache-2.0
// Which plans OpenGL ES serves.
#pragma once

#include <cstdint>

#include "image/backend.h"

namespace halyard::image {

/// What differs from driver to driver. The default is the least that OpenGL ES 3.0 allows.
struct GlLimits {
  std::int32_t max_texture_size = 2048;
};

/// Pure.
Verdict gl_verdict(const Plan& plan, const GlLimits& limits) noexcept;

}  // namespace halyard::image
