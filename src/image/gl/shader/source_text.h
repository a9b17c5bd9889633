// SPDX-License-Identifier: Apache-2.0
// The part of a shader that reads the source: samples as codes, and their filters.
#pragma once

#include <cstddef>
#include <string>

#include "image/gl/shader/tap_table.h"
#include "image/plan.h"

namespace halyard::image {

/// read0() and read1(): the samples of a group's channels at a place, the others 0. A mosaic's
/// samples are its colours. May throw std::bad_alloc, as all below.
std::string read_text(const ImageSpec& src, std::size_t group);

/// filter0() and filter1() with the taps of the table: the filtered samples at an output.
std::string filter_text(const TapTable& taps, std::size_t group);

/// The first of two passes makes filtered rows. It stores the bits of `components` floats in each
/// texel, because every OpenGL ES 3 draws into textures of integers.
struct RowTexel {
  std::size_t first_channel = 0;
  std::size_t components = 0;  ///< 1, 2 or 4
};
RowTexel row_texel(const ImageSpec& src, std::size_t group) noexcept;
/// main() of that pass.
std::string filter_rows_text(const ImageSpec& src, const TapTable& taps, std::size_t group);
/// filter0() and filter1() of the second pass.
std::string filter_columns_text(const ImageSpec& src, const TapTable& taps, std::size_t group);

}  // namespace halyard::image
