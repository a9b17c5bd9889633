// SPDX-License-Identifier: Apache-2.0
// H.264 by Cisco's openh264, which is loaded when it is needed. Baseline profile: packets are in
// the order of the frames.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <memory>

#include "capture/encode/frame_encoder.h"

namespace halyard::capture {

/// Errors: unsupported (built without its header; the library is not there, or is not the version
/// of the header). Thread-safe.
Status load_openh264();

/// Call it only after load_openh264() has succeeded. Without a bit rate it has a quality of its own
/// (quantizer 24). Errors: unsupported (a size that it does not take), no_memory, os.
Result<std::unique_ptr<FrameEncoder>> openh264_encoder(const EncoderRequest& request);

}  // namespace halyard::capture

#endif
