// SPDX-License-Identifier: Apache-2.0
// Encodes a whole PNG file with one deflate call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "halyard/result.h"
#include "halyard/tensor.h"

namespace halyard::codec {

/// Whether deflate_png() accepts an image of this size. It holds the filtered rows and as many
/// bytes for the packed data. Larger images are encoded by libspng, which holds one row.
bool deflates_png(std::size_t row_bytes, std::size_t rows) noexcept;

/// The fields of a file beside its pixels.
struct PngLabels {
  std::uint8_t color_type = 0;
  Orientation orientation;  ///< written to an eXIf chunk unless it is upright
};

/// Encodes a file of 8-bit samples. `pixel_bytes` is 1, 3 or 4, `level` 0 (stored) to 9. Each row
/// gets the filter that libspng would choose. Errors: no_memory.
Result<std::vector<std::byte>> deflate_png(const MappedPlane& plane, std::size_t pixel_bytes,
                                           const PngLabels& labels, int level);

}  // namespace halyard::codec
