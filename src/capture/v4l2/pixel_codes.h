// SPDX-License-Identifier: Apache-2.0
// The V4L2 codes that cameras are read in: those of halyard/drm.h, JPEG, and samples of 10 to 14
// bits.
#pragma once

#include <cstdint>
#include <optional>

#include "halyard/drm.h"

namespace halyard::capture {

struct PixelCode {
  std::optional<PixelLayout> layout;  ///< none for JPEG
  bool is_jpeg = false;
  int sample_bits = 0;  ///< 10, 12 or 14 in the low bits of 16; 0: samples fill their type
};
/// nullopt: not read.
std::optional<PixelCode> pixel_code(std::uint32_t fourcc) noexcept;

/// The place of a readable code among those to choose from without a wish; the lowest is the best.
int preference_of(std::uint32_t fourcc) noexcept;

/// The code of up to four characters; nullopt if there are more or none.
std::optional<std::uint32_t> fourcc_from_string(std::string_view text) noexcept;

}  // namespace halyard::capture
