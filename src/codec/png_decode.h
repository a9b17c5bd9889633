// SPDX-License-Identifier: Apache-2.0
// PNG pixels into a mapped plane. The header has been read and the tensor has the right shape.
#pragma once

#include <cstddef>
#include <span>

#include "codec/png_header.h"
#include "halyard/tensor.h"

namespace halyard::codec {

/// Whether decode_png() gives this format, and this element type.
bool png_serves(PixelFormat format) noexcept;
bool png_serves(DType dtype) noexcept;

/// Fills plane 0 of `map` (the header's size, `format`) at its own pitch; bytes behind the row ends
/// stay as they are. Errors: corrupt, no_memory.
Status decode_png(std::span<const std::byte> file, const PngHeader& header, PixelFormat format,
                  const TensorMap& map);

}  // namespace halyard::codec
