// SPDX-License-Identifier: Apache-2.0
// A tensor as the frame that an encoder takes: over the tensor's own planes where it fits, else
// copied into an even-sized i420 frame.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include "capture/ffmpeg/ffmpeg.h"
#include "halyard/tensor.h"

namespace halyard::capture {

/// What the encoder was opened for; width and height are even.
struct EncoderInput {
  int width = 0;
  int height = 0;
  AVPixelFormat format = AV_PIX_FMT_YUV420P;
};

/// Errors: unsupported (not u8 i420 or nv12).
Status check_encodable(const Tensor& image);

/// An odd image gets its last column or row once more; an nv12 image for a yuv420p encoder (and
/// the other way round) has its chroma rearranged. The frame keeps the
/// image's memory alive. Errors: those of check_encodable, no_memory, those of mapping.
Result<FramePtr> encoder_frame(const Tensor& image, const EncoderInput& input);

}  // namespace halyard::capture

#endif
