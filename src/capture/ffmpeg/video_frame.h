// SPDX-License-Identifier: Apache-2.0
// wrap_frame: a decoded frame as a tensor over the decoder's own planes.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <string>

#include "capture/ffmpeg/ffmpeg.h"
#include "halyard/tensor.h"

namespace halyard::capture {

/// Errors: unsupported (a pixel format that wrap_frame() does not take).
Status check_pixel_format(int ffmpeg_format, const std::string& name);

/// Where a pixel format of ours has the same layout no byte is copied: the tensor's buffers are the
/// planes, read-only because the decoder predicts later frames from them, and the frame is freed
/// with the last of them. Of other formats the samples are copied, as to_eight_bits() says. Errors:
/// those of check_pixel_format(), unsupported (upside-down rows), no_memory.
Result<Tensor> wrap_frame(FramePtr frame, const std::string& name);

}  // namespace halyard::capture

#endif
