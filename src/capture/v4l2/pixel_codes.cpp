// SPDX-License-Identifier: Apache-2.0
// Tables of V4L2 codes.
#include "capture/v4l2/pixel_codes.h"

#include <linux/videodev2.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace halyard::capture {
namespace {

using F = PixelFormat;

struct NarrowCode {
  std::uint32_t fourcc;
  PixelFormat format;
  int bits;
};
constexpr std::array narrow_codes = {
    NarrowCode{V4L2_PIX_FMT_Y10, F::grey, 10},
    NarrowCode{V4L2_PIX_FMT_Y12, F::grey, 12},
    NarrowCode{V4L2_PIX_FMT_Y14, F::grey, 14},
    NarrowCode{V4L2_PIX_FMT_SRGGB10, F::bayer_rggb, 10},
    NarrowCode{V4L2_PIX_FMT_SBGGR10, F::bayer_bggr, 10},
    NarrowCode{V4L2_PIX_FMT_SGRBG10, F::bayer_grbg, 10},
    NarrowCode{V4L2_PIX_FMT_SGBRG10, F::bayer_gbrg, 10},
    NarrowCode{V4L2_PIX_FMT_SRGGB12, F::bayer_rggb, 12},
    NarrowCode{V4L2_PIX_FMT_SBGGR12, F::bayer_bggr, 12},
    NarrowCode{V4L2_PIX_FMT_SGRBG12, F::bayer_grbg, 12},
    NarrowCode{V4L2_PIX_FMT_SGBRG12, F::bayer_gbrg, 12},
    NarrowCode{V4L2_PIX_FMT_SRGGB14, F::bayer_rggb, 14},
    NarrowCode{V4L2_PIX_FMT_SBGGR14, F::bayer_bggr, 14},
    NarrowCode{V4L2_PIX_FMT_SGRBG14, F::bayer_grbg, 14},
    NarrowCode{V4L2_PIX_FMT_SGBRG14, F::bayer_gbrg, 14},
};

// 4:2:0 first: the fewest bytes that hold the colours a network sees.
constexpr std::array preferred = {F::nv12, F::i420, F::nv21, F::nv16, F::yuyv, F::uyvy, F::yvyu,
                                  F::vyuy, F::nv24, F::rgb,  F::bgr,  F::rgba, F::bgra};
constexpr int jpeg_rank = 100;
constexpr int grey_rank = 110;
constexpr int bayer_rank = 120;
constexpr int wide_rank = 5;  // added for samples above 8 bits, which cost more and show no more

}  // namespace

std::optional<PixelCode> pixel_code(std::uint32_t fourcc) noexcept {
  if (fourcc == V4L2_PIX_FMT_MJPEG || fourcc == V4L2_PIX_FMT_JPEG)
    return PixelCode{std::nullopt, true, 0};
  for (const NarrowCode& row : narrow_codes)
    if (row.fourcc == fourcc)
      return PixelCode{PixelLayout{row.format, DType::u16}, false, row.bits};
  const auto layout = layout_from_v4l2(fourcc);
  if (!layout) return std::nullopt;
  return PixelCode{layout, false, 0};
}

int preference_of(std::uint32_t fourcc) noexcept {
  const auto code = pixel_code(fourcc);
  if (!code || code->is_jpeg) return jpeg_rank;
  const int wide = code->layout->dtype == DType::u8 ? 0 : wide_rank + code->sample_bits % 10;
  if (code->layout->format == F::grey) return grey_rank + wide;
  const auto* const at = std::find(preferred.begin(), preferred.end(), code->layout->format);
  if (at == preferred.end()) return bayer_rank + wide;
  // One buffer for all planes before one for each: fewer descriptors.
  const bool is_split = v4l2_pixel_format(*code->layout) != fourcc;
  return static_cast<int>(at - preferred.begin()) * 2 + (is_split ? 1 : 0) + 4 * wide;
}

std::optional<std::uint32_t> fourcc_from_string(std::string_view text) noexcept {
  if (text.empty() || text.size() > 4) return std::nullopt;
  std::uint32_t code = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    code |= static_cast<std::uint32_t>(static_cast<unsigned char>(c)) << (8 * i);
  }
  return code;
}

}  // namespace halyard::capture
