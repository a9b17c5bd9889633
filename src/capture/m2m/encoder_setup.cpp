// SPDX-License-Identifier: Apache-2.0
// VIDIOC_S_FMT, S_PARM, S_SELECTION and the controls of encoders, in the order of
// Documentation/userspace-api/media/v4l/dev-encoder.rst.
#include "capture/m2m/encoder_setup.h"

#include <cmath>

#include "base/text/format_error.h"
#include "capture/m2m/codec_table.h"
#include "capture/v4l2/camera_controls.h"
#include "capture/v4l2/camera_formats.h"

namespace halyard::capture {
namespace {

constexpr std::uint64_t max_number = INT32_MAX;

std::optional<CameraControl> find_by_id(const CameraDevice& device, std::uint32_t id) {
  const auto controls = list_controls(device);
  for (std::size_t i = 0; controls && i < controls->size(); ++i)
    if ((*controls)[i].id == id) return (*controls)[i];
  return std::nullopt;
}

Status set_entry(const CameraDevice& device, const char* none, std::uint32_t id,
                 const std::string& entry) {
  if (entry.empty()) return {};
  const auto control = find_by_id(device, id);
  if (!control) return fail(Errc::unsupported, none, "{}: {}", device.path(), entry);
  return write_control(device, control->name, std::string_view(entry));
}

Status set_controls(const CameraDevice& device, const VideoEncoderOptions& options) {
  const CodecControls ids = codec_controls(options.codec);
  HALYARD_RETURN_IF_ERROR(
      set_entry(device, "profile: the encoder has no such control", ids.profile, options.profile));
  HALYARD_RETURN_IF_ERROR(
      set_entry(device, "level: the encoder has no such control", ids.level, options.level));
  if (options.bitrate > 0)
    HALYARD_RETURN_IF_ERROR(set_codec_control(device, "bitrate: the encoder has no such control",
                                              V4L2_CID_MPEG_VIDEO_BITRATE,
                                              static_cast<std::int64_t>(options.bitrate)));
  if (options.gop > 0)
    HALYARD_RETURN_IF_ERROR(set_codec_control(device, "gop: the encoder has no such control",
                                              V4L2_CID_MPEG_VIDEO_GOP_SIZE, options.gop));
  // A receiver may begin at any key frame, where the driver can arrange that.
  for (const auto& [id, value] :
       {std::pair{V4L2_CID_MPEG_VIDEO_PREPEND_SPSPPS_TO_IDR, 1},
        std::pair{V4L2_CID_MPEG_VIDEO_HEADER_MODE,
                  static_cast<int>(V4L2_MPEG_VIDEO_HEADER_MODE_JOINED_WITH_1ST_FRAME)}}) {
    v4l2_control wish{static_cast<std::uint32_t>(id), value};
    device.call(VIDIOC_S_CTRL, &wish);
  }
  return {};
}

// The part of the driver's frame that is encoded.
Status set_crop(const CameraDevice& queue, const DriverFormat& raw,
                const VideoEncoderOptions& options) {
  if (raw.width == options.width && raw.height == options.height) return {};
  v4l2_selection wish{};
  wish.type = V4L2_BUF_TYPE_VIDEO_OUTPUT;
  wish.target = V4L2_SEL_TGT_CROP;
  wish.r = {0, 0, static_cast<std::uint32_t>(options.width),
            static_cast<std::uint32_t>(options.height)};
  const int failed = queue.call(VIDIOC_S_SELECTION, &wish);
  const bool is_kept = wish.r.left == 0 && wish.r.top == 0 && wish.r.width == options.width &&
                       wish.r.height == options.height;
  if (failed == 0 && is_kept) return {};
  return fail(Errc::unsupported, "width, height: the encoder takes another size",
              "{}x{}, not {}x{}", failed == 0 ? wish.r.width : raw.width,
              failed == 0 ? wish.r.height : raw.height, options.width, options.height);
}

Result<std::uint32_t> raw_code(const CameraDevice& queue, PixelFormat format) {
  const auto offered = list_formats(queue);
  for (const CameraFormat& each : offered)
    if (each.layout == PixelLayout{format}) return each.fourcc;
  return fail(Errc::unsupported, "format: the encoder does not take it", "{}; it takes {}",
              to_string(format), text_of_formats(offered));
}

Result<DriverFormat> set_raw(const CameraDevice& queue, const VideoEncoderOptions& options,
                             std::size_t stride_bytes) {
  HALYARD_TRY(const std::uint32_t fourcc, raw_code(queue, options.format));
  const FormatWish wish{v4l2_colorimetry(options.colorimetry), 0};
  HALYARD_TRY(const DriverFormat raw,
              queue.set_format(fourcc, options.width, options.height, stride_bytes, wish));
  const bool is_large_enough = raw.width >= options.width && raw.height >= options.height;
  if (raw.fourcc != fourcc || !is_large_enough || raw.planes.empty())
    return fail(Errc::unsupported, "width, height: the encoder takes another size",
                "{}x{}, not {}x{}", raw.width, raw.height, options.width, options.height);
  HALYARD_RETURN_IF_ERROR(set_crop(queue, raw, options));
  return raw;
}

}  // namespace

Status check_encoder_options(const VideoEncoderOptions& options) {
  constexpr std::size_t max_pixels = 65535;
  if (options.width == 0 || options.height == 0 || options.width > max_pixels ||
      options.height > max_pixels)
    return fail(Errc::invalid_argument, "width, height: must be 1 to 65535", "{}x{}", options.width,
                options.height);
  constexpr double max_rate = 1000;
  if (!(options.rate > 0 && options.rate <= max_rate))
    return fail(Errc::invalid_argument, "rate: must be above 0 and at most 1000", "{}",
                options.rate);
  if (options.bitrate > max_number || options.gop > max_number)
    return fail(Errc::invalid_argument, "bitrate, gop: too large", "{}, {}, not above {}",
                options.bitrate, options.gop, max_number);
  constexpr std::uint32_t max_buffers = 32;
  if (options.images < 2 || options.images > max_buffers || options.packets < 2 ||
      options.packets > max_buffers)
    return fail(Errc::invalid_argument, "images, packets: must be 2 to 32", "{}, {}",
                options.images, options.packets);
  return {};
}

Result<EncoderFormats> set_up_encoder(const CodecNode& node, const VideoEncoderOptions& options) {
  EncoderFormats formats;
  const auto queue = node.device->queue(true);
  HALYARD_TRY(formats.coded,
              node.device->set_format(node.fourcc, options.width, options.height, 0));
  HALYARD_TRY(formats.raw, set_raw(*queue, options, 0));
  HALYARD_RETURN_IF_ERROR(set_controls(*node.device, options));
  { HALYARD_TRY([[maybe_unused]] const double rate, queue->set_rate(options.rate)); }
  // The size of the coded buffers follows from that of the images.
  HALYARD_TRY(formats.coded, node.device->format());
  if (formats.coded.fourcc != node.fourcc || formats.coded.planes.size() != 1)
    return fail(Errc::unsupported, "codec: its driver chooses another format", "{}: {}",
                node.device->path(), fourcc_to_string(formats.coded.fourcc));
  return formats;
}

std::optional<DriverFormat> set_raw_stride(const CameraDevice& queue,
                                           const VideoEncoderOptions& options,
                                           const DriverFormat& now, std::size_t stride_bytes) {
  if (now.planes[0].stride_bytes == stride_bytes) return now;
  auto raw = set_raw(queue, options, stride_bytes);
  if (raw && raw->planes[0].stride_bytes == stride_bytes) return *std::move(raw);
  set_raw(queue, options, 0).has_value();
  return std::nullopt;
}

Status check_readable(const Tensor& image, const DriverFormat& format) {
  const bool is_whole = format.planes.size() == 1;
  // In one buffer the chroma follows the driver's rows, which may be more.
  if (is_whole && image.plane_count() > 1 &&
      (!image.planes_adjacent() || format.height != image.height()))
    return fail(Errc::unsupported, "image: the encoder wants its planes further apart",
                "after {} rows, not {}", format.height, image.height());
  if (!is_whole && image.plane_count() != format.planes.size())
    return fail(Errc::unsupported, "image: the encoder wants a buffer for each plane");
  for (std::size_t p = 0; p < format.planes.size(); ++p) {
    HALYARD_TRY(const ImagePlane plane, image.image_plane(p));
    if (plane.buffer->fd() < 0)
      return fail(Errc::unsupported, "image: must lie in a DMA-BUF (Memory::dma)", "it lies in {}",
                  to_string(plane.buffer->memory()));
    if (plane.offset_bytes != 0)
      return fail(Errc::unsupported, "image: must begin with its buffer", "plane {} at byte {}", p,
                  plane.offset_bytes);
    if (plane.stride_bytes != format.planes[p].stride_bytes ||
        plane.buffer->size_bytes() < format.planes[p].size_bytes)
      return fail(Errc::unsupported, "image: the encoder wants another stride or a larger buffer",
                  "plane {}: {} and {} bytes, not {} and {}", p, format.planes[p].stride_bytes,
                  format.planes[p].size_bytes, plane.stride_bytes, plane.buffer->size_bytes());
  }
  return {};
}

Status set_codec_control(const CameraDevice& device, const char* none, std::uint32_t id,
                         std::int64_t value) {
  const auto control = find_by_id(device, id);
  if (!control) return fail(Errc::unsupported, none, "{}", device.path());
  return write_control(device, control->name, value);
}

}  // namespace halyard::capture
