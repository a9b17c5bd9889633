// SPDX-License-Identifier: Apache-2.0
// wrap_frame: a decoded frame as a tensor over the decoder's own planes.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <string>

#include "capture/ffmpeg/ffmpeg.h"
#include "halyard/tensor.h"

namespace halyard::capture {

/// Errors: unsupported (wrap_frame() does not support the pixel format).
Status check_pixel_format(int ffmpeg_format, const std::string& name);

/// If a Halyard pixel format has the same layout, no byte is copied: the tensor's buffers are the
/// decoder's planes. They are read-only, because the decoder predicts later frames from them. The
/// frame is freed with the last of them. For other formats the samples are copied by
/// to_eight_bits(). Errors: those of check_pixel_format(), unsupported (rows stored bottom-up),
/// no_memory.
Result<Tensor> wrap_frame(FramePtr frame, const std::string& name);

}  // namespace halyard::capture

#endif
