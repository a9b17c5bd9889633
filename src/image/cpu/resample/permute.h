// SPDX-License-Identifier: Apache-2.0
// Tables for processors that permute bytes or words of a vector.
#pragma once

#include <cstdint>

#include "image/cpu/resample/fixed_taps.h"

namespace halyard::image {

/// For processors that permute: a table for a row of `samples` of 16 bits, or of bytes (one pair of
/// taps only); an empty one where the samples of 16 outputs lie too far apart.
PermuteTable make_permute(const FixedTaps& outputs, std::int32_t samples, bool bytes);

}  // namespace halyard::image
