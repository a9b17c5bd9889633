// SPDX-License-Identifier: Apache-2.0
// What VideoWriter and VideoStreamWriter accept.
#pragma once

#include <cstdint>

#include "halyard/geometry.h"
#include "halyard/result.h"

namespace halyard::capture {

/// Errors: invalid_argument (size not 1..16384; rate not above 0 and at most 1000).
Status check_video(Size size, double rate);
/// Bits per second; 0 is a constant quality. Errors: invalid_argument (not 0 to 1e9).
Status check_bitrate(std::int64_t bitrate);

}  // namespace halyard::capture
