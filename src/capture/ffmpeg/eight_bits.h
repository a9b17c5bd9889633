// SPDX-License-Identifier: Apache-2.0
// Frames that no pixel format of ours lies in, as 8-bit frames of the same chroma sampling.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <string>

#include "capture/ffmpeg/ffmpeg.h"
#include "halyard/tensor.h"

namespace halyard::capture {

/// The format that to_eight_bits() gives: i420, nv16 or nv24 for YUV of 4:2:0, 4:2:2 or 4:4:4,
/// grey, rgb, or rgba where RGB has an alpha channel (that of YUV is left out). Nothing for other
/// chroma samplings, palettes, floats, Bayer patterns, and big-endian samples above 8 bits.
std::optional<PixelFormat> eight_bit_format(int ffmpeg_format) noexcept;

/// Copies the samples. 8 bits stay as they are. Of more, the limited range is divided by a power of
/// two and the full range scaled so that the largest value becomes 255, both rounded to nearest.
/// `frame` has a format that eight_bit_format() knows. Errors: no_memory, unsupported (rows that
/// lie upside down).
Result<Tensor> to_eight_bits(const AVFrame& frame, const std::string& name);

}  // namespace halyard::capture

#endif
