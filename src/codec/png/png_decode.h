// SPDX-License-Identifier: Apache-2.0
// Decodes PNG pixels into a mapped plane. The header has been read and the tensor has its shape.
#pragma once

#include <cstddef>
#include <span>

#include "codec/png/png_header.h"
#include "halyard/tensor.h"

namespace halyard::codec {

/// Whether decode_png() supports this format, and this element type.
bool png_serves(PixelFormat format) noexcept;
bool png_serves(DType dtype) noexcept;

/// Fills plane 0 of `map` (the header's size, `format`) with the plane's own stride; bytes after
/// the row ends keep their values. `spare_bytes` is the memory allowed beside the destination. If
/// the inflated rows need more, rows are read one by one, which is slower. Errors: corrupt,
/// no_memory, cancelled.
Status decode_png(std::span<const std::byte> file, const PngHeader& header, PixelFormat format,
                  const TensorMap& map, std::size_t spare_bytes);

}  // namespace halyard::codec
