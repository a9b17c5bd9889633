// SPDX-License-Identifier: Apache-2.0
// The packets of a container on a hardware codec of V4L2 (halyard/video_codec.h).
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <memory>
#include <string>

#include "capture/ffmpeg/packet_decoder.h"
#include "halyard/capture.h"

namespace halyard::capture {

/// Images are those of VideoDecoder, in the driver's buffers, 8 of which the caller can hold.
/// `is_live`: images come out as soon as they are ready; otherwise the codec has several packets at
/// once. `options`: video_decoder, the limits, is_cancelled, network_timeout (of each image).
/// Errors: unsupported (a codec that no hardware of halyard/video_codec.h has), those of
/// VideoDecoder::open() and check_frame().
Result<std::unique_ptr<PacketDecoder>> open_hardware_decoder(const AVStream& stream, bool is_live,
                                                             const FrameSourceOptions& options,
                                                             const std::string& name);

}  // namespace halyard::capture

#endif
