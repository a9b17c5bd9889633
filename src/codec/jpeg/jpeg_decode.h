// SPDX-License-Identifier: Apache-2.0
// JPEG pixels into mapped planes. The header has been read and the tensor has the right shape.
#pragma once

#include <cstddef>
#include <span>

#include "codec/jpeg/jpeg_header.h"
#include "halyard/tensor.h"

namespace halyard::codec {

/// Whether decode_jpeg() gives `format` for this file.
bool serves(const JpegHeader& header, PixelFormat format) noexcept;

/// Which decoder of Huffman codes is used; pixels and errors of the first two are the same.
enum class JpegEntropyChoice {
  automatic,  ///< ours where it serves the file; if the scan is not flawless, libjpeg's from the
              ///< start
  libjpeg,    ///< libjpeg's own
  own         ///< ours alone, for tests: unsupported where it does not serve the file, and corrupt
              ///< where the scan is not flawless
};

/// Fills the planes of `map` (u8, the header's size, `format`) at their own pitch; bytes behind the
/// row ends stay as they are. The codec object is the thread's and is used again. Scans are counted
/// while they are read, too: libjpeg may find other ones than check_jpeg_scans().
/// Errors: corrupt (also the limits of scans), unsupported, no_memory.
Status decode_jpeg(std::span<const std::byte> file, const JpegHeader& header, PixelFormat format,
                   const TensorMap& map, const DecodeLimits& limits = {},
                   JpegEntropyChoice choice = JpegEntropyChoice::automatic);

}  // namespace halyard::codec
