// SPDX-License-Identifier: Apache-2.0
// Decodes JPEG pixels into mapped planes. The header has been read and the tensor has its shape.
#pragma once

#include <cstddef>
#include <span>

#include "codec/jpeg/jpeg_header.h"
#include "halyard/tensor.h"

namespace halyard::codec {

/// Whether decode_jpeg() supports `format` for this file.
bool serves(const JpegHeader& header, PixelFormat format) noexcept;

/// Which Huffman decoder is used. `automatic` and `libjpeg` give the same pixels and errors.
enum class JpegEntropyChoice {
  automatic,  ///< Halyard's if it supports the file; if the scan is not flawless, libjpeg's from
              ///< the start
  libjpeg,    ///< libjpeg's own
  own  ///< only Halyard's, for tests: unsupported if it does not support the file, corrupt if
       ///< the scan is not flawless
};

/// Fills the planes of `map` (u8, the header's size, `format`) with their own strides; bytes after
/// the row ends keep their values. The codec object belongs to the thread and is reused. Scans are
/// also counted while they are read, because libjpeg may find other ones than check_jpeg_scans().
/// Errors: corrupt (also the limits of scans), unsupported, no_memory.
Status decode_jpeg(std::span<const std::byte> file, const JpegHeader& header, PixelFormat format,
                   const TensorMap& map, const DecodeLimits& limits = {},
                   JpegEntropyChoice choice = JpegEntropyChoice::automatic);

}  // namespace halyard::codec
