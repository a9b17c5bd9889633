// SPDX-License-Identifier: Apache-2.0
// Wraps the planes of an AVFrame as buffers.
#include "capture/ffmpeg/video_frame.h"

#ifdef HALYARD_HAVE_FFMPEG

#include <array>
#include <utility>

#include "base/text/format_error.h"
#include "capture/ffmpeg/eight_bits.h"

namespace halyard::capture {

Status check_pixel_format(int ffmpeg_format, const std::string& name) {
  if (pixel_format_of(ffmpeg_format) || eight_bit_format(ffmpeg_format)) return {};
  return fail(Errc::unsupported,
              "video: pixel format must be YUV of 4:2:0, 4:2:2 or 4:4:4, grey or RGB", "{}: {}",
              name, name_of_format(ffmpeg_format));
}

Result<Tensor> wrap_frame(FramePtr frame, const std::string& name) {
  const auto format = pixel_format_of(frame->format);
  if (!format) {
    HALYARD_RETURN_IF_ERROR(check_pixel_format(frame->format, name));
    return to_eight_bits(*frame, name);
  }
  const auto width = static_cast<std::size_t>(frame->width);
  const auto height = static_cast<std::size_t>(frame->height);
  const Colorimetry colorimetry = colorimetry_of(*frame);
  const std::shared_ptr<AVFrame> owner(frame.release(), FreeFrame());
  const std::size_t count = info(*format).planes;
  std::array<Tensor::PlaneSource, 3> planes;
  for (std::size_t i = 0; i < count; ++i) {
    if (owner->linesize[i] <= 0) {
      return fail(Errc::unsupported, "video: rows must be stored from top to bottom",
                  "{}: stride {}", name, owner->linesize[i]);
    }
    const auto stride = static_cast<std::size_t>(owner->linesize[i]);
    // Wrap the image only: the decoder's memory may end right after the last row of a cropped
    // frame.
    HALYARD_TRY(const PlaneGeometry g, plane_geometry(*format, DType::u8, width, height, 0, i));
    const std::size_t bytes = (g.rows - 1) * stride + g.row_bytes;
    HALYARD_TRY(planes[i].buffer, wrap_memory(static_cast<const void*>(owner->data[i]), bytes,
                                              [owner] { (void)owner; }));
    planes[i].stride_bytes = stride;
  }
  HALYARD_TRY(Tensor image,
              Tensor::wrap_image(std::span(planes).first(count), width, height, *format));
  image.set_colorimetry(colorimetry);
  return image;
}

}  // namespace halyard::capture

#endif
