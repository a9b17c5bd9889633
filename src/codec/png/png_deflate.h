// SPDX-License-Identifier: Apache-2.0
// A whole PNG file deflated in one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "halyard/result.h"
#include "halyard/tensor.h"

namespace halyard::codec {

/// Whether deflate_png() takes an image of this size. It holds the image's filtered rows and
/// room for as many packed bytes; larger ones are for libspng, which holds one row.
bool deflates_png(std::size_t row_bytes, std::size_t rows) noexcept;

/// What a file says beside its pixels.
struct PngLabels {
  std::uint8_t color_type = 0;
  Orientation orientation;  ///< other than upright: in an eXIf chunk
};

/// A file of 8-bit samples. `pixel_bytes` is 1, 3 or 4, `level` 0 (stored) to 9. Rows get the
/// filter that libspng would choose. Errors: no_memory.
Result<std::vector<std::byte>> deflate_png(const MappedPlane& plane, std::size_t pixel_bytes,
                                           const PngLabels& labels, int level);

}  // namespace halyard::codec
