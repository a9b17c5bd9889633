// SPDX-License-Identifier: Apache-2.0
// Requests made from one number for each of their fields: for pairwise and random tests.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "halyard/image.h"
#include "images.h"

namespace halyard::test {

/// One value per factor, each in [0, factor_levels()[factor]).
enum Factor : std::size_t {
  f_source,
  f_depth,  ///< u8; u16 with all bits, or with source_bits of 10, 12 and 16
  f_target,
  f_dtype,
  f_filter,
  f_antialias,
  f_orientation,
  f_flip,
  f_rotation,
  f_fit,
  f_letterbox,
  f_crop,   ///< none, on whole pixels, between pixels
  f_place,  ///< none, a part
  f_pad,
  f_chroma,
  f_colours_in,
  f_colours_out,
  f_width,
  f_height,
  f_tall,  ///< whether the height is multiplied by seven
  f_size,  ///< of the destination: that of the rotated source, about half, smaller, larger, tiny
  f_source_extra,
  f_target_extra,
  f_offsets,
  f_alpha,
  f_bgr,
  f_numbers,  ///< plain, normalize, quantized, both, quantized per channel
  f_mode,     ///< fast, exact
  f_bytes,    ///< of the source: random, or every bit set or clear, which overshoots most
  factor_count
};

const std::vector<int>& factor_levels();
/// Changes factors that are not `fixed` until the request is legal; returns false if it cannot.
bool make_legal(std::vector<int>& values, const std::vector<bool>& fixed);
/// The request, with images of random bytes. The values must be legal.
Convert build_request(const std::vector<int>& values, Random& random);

}  // namespace halyard::test
