// SPDX-License-Identifier: Apache-2.0
// The formats and controls of an encoder, as VideoEncoderOptions ask for them.
#pragma once

#include "capture/m2m/codec_device.h"

namespace halyard::capture {

Status check_encoder_options(const VideoEncoderOptions& options);

struct EncoderFormats {
  DriverFormat coded;
  DriverFormat raw;
};
/// Sets formats, rate, rectangle and controls. Errors: unsupported (with what the driver offers),
/// those of codec_error().
Result<EncoderFormats> set_up_encoder(const CodecNode& node, const VideoEncoderOptions& options);
/// The format of the images again, with a stride that is wanted; nullopt: the driver has another.
std::optional<DriverFormat> set_raw_stride(const CameraDevice& queue,
                                           const VideoEncoderOptions& options,
                                           const DriverFormat& now, std::size_t stride_bytes);
/// Why an encoder cannot read an image where it lies; ok: it can.
Status check_readable(const Tensor& image, const DriverFormat& format);
/// Sets a control by its id. Errors: unsupported (there is none), those of set_control().
Status set_codec_control(const CameraDevice& device, const char* none, std::uint32_t id,
                         std::int64_t value);

}  // namespace halyard::capture
