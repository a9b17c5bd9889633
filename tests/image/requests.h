// SPDX-License-Identifier: Apache-2.0
// Requests made of one number per word of the request: for pairwise and random tests.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "halyard/image.h"
#include "images.h"

namespace halyard::testing {

/// One value per factor, each in [0, factor_levels()[factor]).
enum Factor : std::size_t {
  f_source,
  f_depth,  ///< u8; u16 with all bits, with 10, 12 and 16 named
  f_target,
  f_dtype,
  f_filter,
  f_antialias,
  f_orientation,
  f_flip,
  f_rotation,
  f_fit,
  f_letterbox,
  f_crop,   ///< none, whole pixels, between pixels
  f_place,  ///< none, a part
  f_pad,
  f_chroma,
  f_colours_in,
  f_colours_out,
  f_width,
  f_height,
  f_tall,  ///< whether the height counts seven times
  f_size,  ///< of the destination: as the turned source, about half, smaller, larger, tiny
  f_source_extra,
  f_target_extra,
  f_offsets,
  f_alpha,
  f_bgr,
  f_numbers,  ///< plain, normalize, quantized, both, quantized per channel
  f_mode,     ///< fast, exact
  f_bytes,    ///< of the source: any, or all bits of each clear or set, which overshoots most
  factor_count
};

const std::vector<int>& factor_levels();
/// Changes factors that are not `fixed` until the request is legal; false when it cannot.
bool make_legal(std::vector<int>& values, const std::vector<bool>& fixed);
/// The request, its images filled with random bytes. The values must be legal.
Convert build_request(const std::vector<int>& values, Random& random);

}  // namespace halyard::testing
