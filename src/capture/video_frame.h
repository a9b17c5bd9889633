// SPDX-License-Identifier: Apache-2.0
// wrap_frame: a decoded frame as a tensor over the decoder's own planes.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <string>

#include "capture/ffmpeg.h"
#include "halyard/tensor.h"

namespace halyard::capture {

/// No byte is copied: the tensor's buffers are the planes, read-only because the decoder predicts
/// later frames from them, and the frame is freed with the last of them. Errors: unsupported (pixel
/// format without a tensor of the same layout, upside-down rows).
Result<Tensor> wrap_frame(FramePtr frame, const std::string& name);

}  // namespace halyard::capture

#endif
