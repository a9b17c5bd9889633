// SPDX-License-Identifier: Apache-2.0
// What a decoder is asked for, against what its driver offers.
#include "capture/m2m/decoder_setup.h"

#include "base/text/format_error.h"
#include "capture/v4l2/camera_formats.h"
#include "capture/v4l2/pixel_codes.h"

namespace halyard::capture {
namespace {

Status check_count(const char* what, std::uint32_t count, std::uint32_t least, std::uint32_t most) {
  if (count >= least && count <= most) return {};
  return fail(Errc::invalid_argument, what, "{}, not {} to {}", count, least, most);
}

}  // namespace

Status check_decoder_options(const VideoDecoderOptions& options) {
  HALYARD_RETURN_IF_ERROR(check_count("packets: out of range", options.packets, 2, 32));
  HALYARD_RETURN_IF_ERROR(check_count("images: out of range", options.images, 1, 28));
  constexpr std::size_t max_bytes = std::size_t{1} << 30;
  if (options.packet_bytes > max_bytes)
    return fail(Errc::invalid_argument, "packet_bytes: too large", "{}, not at most {}",
                options.packet_bytes, max_bytes);
  constexpr std::size_t max_pixels = 65535;
  if (options.width > max_pixels || options.height > max_pixels ||
      (options.width == 0) != (options.height == 0))
    return fail(Errc::invalid_argument, "width, height: both 1 to 65535, or none", "{}x{}",
                options.width, options.height);
  return {};
}

Result<std::uint32_t> choose_frame_code(const CameraDevice& queue, const DriverFormat& now,
                                        std::optional<PixelFormat> wanted) {
  const auto fits = [wanted](std::uint32_t fourcc) {
    const auto layout = layout_from_v4l2(fourcc);
    return layout && (!wanted || (layout->format == *wanted && layout->dtype == DType::u8));
  };
  if (fits(now.fourcc)) return now.fourcc;
  const auto offered = list_formats(queue);
  const CameraFormat* best = nullptr;
  for (const CameraFormat& format : offered) {
    const bool is_better =
        fits(format.fourcc) &&
        (best == nullptr || preference_of(format.fourcc) < preference_of(best->fourcc));
    if (is_better) best = &format;
  }
  if (best != nullptr) return best->fourcc;
  return fail(Errc::unsupported, "format: the decoder does not offer it, or none that is read",
              "it has {}", text_of_formats(offered));
}

}  // namespace halyard::capture
