// SPDX-License-Identifier: Apache-2.0
// Tables of the horizontal pass for processors that permute the bytes or 16-bit lanes of a vector.
#pragma once

#include <cstdint>

#include "image/cpu/resample/fixed_taps.h"

namespace halyard::image {

/// Makes a table for a row of `samples` 16-bit samples, or of bytes (one pair of taps only).
/// Returns an empty table where the samples of 16 outputs lie too far apart.
PermuteTable make_permute(const FixedTaps& outputs, std::int32_t samples, bool bytes);

}  // namespace halyard::image
