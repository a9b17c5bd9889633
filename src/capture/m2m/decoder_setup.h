// SPDX-License-Identifier: Apache-2.0
// The options of a decoder, and the format of its frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "capture/v4l2/camera_device.h"
#include "halyard/video_codec.h"

namespace halyard::capture {

inline constexpr std::size_t min_packet_bytes = std::size_t{1} << 20;

/// Errors: invalid_argument.
Status check_decoder_options(const VideoDecoderOptions& options);

/// The code of the format that the caller wants, or else of one that is read: that of now, or the
/// best that the queue offers. Errors: unsupported (with what it offers).
Result<std::uint32_t> choose_frame_code(const CameraDevice& queue, const DriverFormat& now,
                                        std::optional<PixelFormat> wanted);

}  // namespace halyard::capture
