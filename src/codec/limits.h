// SPDX-License-Identifier: Apache-2.0
// The caller's size limits, and what a file of some length can hold at all. Checked before anything
// is allocated.
#pragma once

#include <cstddef>

#include "base/checked.h"
#include "base/format_error.h"
#include "halyard/codec.h"

namespace halyard::codec {

inline Status check_limits(std::size_t width, std::size_t height, const DecodeLimits& limits) {
  if (width > limits.max_width) {
    return fail(Errc::invalid_argument, "picture width is above limits.max_width", "{} > {}", width,
                limits.max_width);
  }
  if (height > limits.max_height) {
    return fail(Errc::invalid_argument, "picture height is above limits.max_height", "{} > {}",
                height, limits.max_height);
  }
  const auto pixels = checked_mul(width, height);
  if (!pixels || *pixels > limits.max_pixels) {
    return fail(Errc::invalid_argument, "picture size is above limits.max_pixels", "{} x {} > {}",
                width, height, limits.max_pixels);
  }
  return {};
}

}  // namespace halyard::codec
