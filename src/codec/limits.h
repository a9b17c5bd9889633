// SPDX-License-Identifier: Apache-2.0
// Checks of the caller's size limits, and of the most that a file of some length can hold. They run
// before anything is allocated.
#pragma once

#include <cstddef>

#include "base/checked.h"
#include "base/text/format_error.h"
#include "halyard/codec.h"

namespace halyard::codec {

inline Status check_limits(std::size_t width, std::size_t height, const DecodeLimits& limits) {
  if (width > limits.max_width) {
    return fail(Errc::invalid_argument, "image width is above limits.max_width", "{} > {}", width,
                limits.max_width);
  }
  if (height > limits.max_height) {
    return fail(Errc::invalid_argument, "image height is above limits.max_height", "{} > {}",
                height, limits.max_height);
  }
  const auto pixels = checked_mul(width, height);
  if (!pixels || *pixels > limits.max_pixels) {
    return fail(Errc::invalid_argument, "image size is above limits.max_pixels", "{} x {} > {}",
                width, height, limits.max_pixels);
  }
  return {};
}

/// Checks the bytes of the destination and the memory that decoding takes beside it.
inline Status check_bytes(std::size_t decoded, std::size_t working, std::size_t file_bytes,
                          const DecodeLimits& limits) {
  const auto total = checked_add(decoded, working);
  if (!total || *total > limits.max_bytes) {
    return fail(Errc::invalid_argument, "decoded image is above limits.max_bytes",
                "{} bytes of pixels and {} of coefficients or rows > {}", decoded, working,
                limits.max_bytes);
  }
  if (decoded <= limits.expansion_floor) return {};
  const auto allowed = checked_mul(file_bytes, limits.max_expansion);
  if (!allowed || decoded <= *allowed) return {};
  return fail(Errc::invalid_argument,
              "decoded bytes per byte of the file are above limits.max_expansion",
              "{} bytes from a file of {} > {} to 1; up to {} bytes any ratio passes "
              "(limits.expansion_floor)",
              decoded, file_bytes, limits.max_expansion, limits.expansion_floor);
}

}  // namespace halyard::codec
