// SPDX-License-Identifier: Apache-2.0
// Converts frames that match no Halyard pixel format to 8-bit frames of the same chroma sampling.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <string>

#include "capture/ffmpeg/ffmpeg.h"
#include "halyard/tensor.h"

namespace halyard::capture {

/// The format that to_eight_bits() gives: i420, nv16 or nv24 for YUV of 4:2:0, 4:2:2 or 4:4:4;
/// grey; rgb, or rgba if RGB has an alpha channel (alpha of YUV is dropped). nullopt for other
/// chroma samplings, palettes, floats, Bayer patterns, and big-endian samples above 8 bits.
std::optional<PixelFormat> eight_bit_format(int ffmpeg_format) noexcept;

/// Copies the samples. Samples of 8 bits are unchanged. Wider samples of the limited range are
/// divided by a power of two; those of the full range are scaled so that the largest value becomes
/// 255. Both are rounded to nearest. `frame` must have a format that eight_bit_format() knows.
/// Errors: no_memory, unsupported (rows stored bottom-up).
Result<Tensor> to_eight_bits(const AVFrame& frame, const std::string& name);

}  // namespace halyard::capture

#endif
