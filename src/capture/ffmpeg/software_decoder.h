// SPDX-License-Identifier: Apache-2.0
// FFmpeg's decoders, on the CPU.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <memory>
#include <string>

#include "capture/ffmpeg/packet_decoder.h"
#include "halyard/codec.h"

namespace halyard::capture {

/// The decoder uses one thread for each core, 16 at most. Errors: unsupported (FFmpeg has no
/// decoder), malformed, those of check_frame().
Result<std::unique_ptr<PacketDecoder>> open_software_decoder(const AVStream& stream,
                                                             const DecodeLimits& limits,
                                                             const std::string& name);

}  // namespace halyard::capture

#endif
