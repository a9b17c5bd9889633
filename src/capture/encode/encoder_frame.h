// SPDX-License-Identifier: Apache-2.0
// Makes a tensor into the frame that an encoder takes: over the tensor's own planes if possible,
// otherwise copied into an even-sized frame.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include "capture/ffmpeg/ffmpeg.h"
#include "halyard/tensor.h"

namespace halyard::capture {

/// Size and format that the encoder was opened with; width and height are even.
struct EncoderInput {
  int width = 0;
  int height = 0;
  AVPixelFormat format = AV_PIX_FMT_YUV420P;
};

/// Errors: unsupported (not u8 i420 or nv12).
Status check_encodable(const Tensor& image);

/// An odd image gets its last column or row repeated. The chroma of an nv12 image is rearranged for
/// a yuv420p encoder, and the other way round. The frame keeps the image's memory alive. Errors:
/// those of check_encodable(), no_memory, those of mapping.
Result<FramePtr> encoder_frame(const Tensor& image, const EncoderInput& input);

}  // namespace halyard::capture

#endif
