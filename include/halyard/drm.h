// SPDX-License-Identifier: Apache-2.0
// Maps this library's formats, modifiers, compression and colorimetry to the codes of DRM, V4L2 and
// EGL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "halyard/colorimetry.h"
#include "halyard/export.h"
#include "halyard/format.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// A pixel format together with its element type.
struct PixelLayout {
  PixelFormat format;
  DType dtype = DType::u8;
  friend bool operator==(const PixelLayout&, const PixelLayout&) = default;
};

/// DRM_FORMAT_* code (drm_fourcc.h). DRM names the channels of a word from the high bits down, this
/// library the bytes in memory order: rgba is DRM's ABGR8888. None for formats that DRM lacks
/// (planar RGB, Bayer). layout_from_drm() also accepts the codes without alpha (XRGB8888), as bgra
/// or rgba: the content of their alpha samples is undefined.
std::optional<std::uint32_t> drm_fourcc(PixelLayout layout) noexcept;
std::optional<PixelLayout> layout_from_drm(std::uint32_t fourcc) noexcept;

/// V4L2_PIX_FMT_* code (videodev2.h, whose macro v4l2_fourcc prevents that name here). `planes` 1:
/// the contiguous code (NV12); more: the code whose planes lie in separate buffers (NM12).
/// layout_from_v4l2() accepts both, and codes without alpha as above. It does not accept V4L2's old
/// RGB32 and BGR32, because drivers disagree on their alpha.
std::optional<std::uint32_t> v4l2_pixel_format(PixelLayout layout, std::size_t planes = 1) noexcept;
std::optional<PixelLayout> layout_from_v4l2(std::uint32_t fourcc) noexcept;

/// "NV12" for a code of four printable characters, else its hexadecimal value.
std::string fourcc_to_string(std::uint32_t fourcc);

/// Modifiers describe how pixels are arranged in memory other than by rows; DRM_FORMAT_MOD_*.
inline constexpr std::uint64_t drm_modifier_linear = 0;
/// The modifier is not known; treated as linear.
inline constexpr std::uint64_t drm_modifier_invalid = 0x00FFFFFFFFFFFFFFULL;

/// Whether a CPU can address the pixels by row and column.
constexpr bool is_linear(std::uint64_t modifier) noexcept {
  return modifier == drm_modifier_linear || modifier == drm_modifier_invalid;
}
/// "linear", "invalid", or vendor and value: "arm 0x08...01".
std::string modifier_to_string(std::uint64_t modifier);

/// Lossless frame compression of GPU and display hardware. `any`: any scheme that the device has.
enum class Compression : std::uint8_t { none = 0, any = 1, ubwc = 2, afbc = 3, pvric = 4, dcc = 5 };
std::string_view to_string(Compression compression) noexcept;
std::optional<Compression> compression_from_string(std::string_view name) noexcept;
/// The compression scheme of a modifier: `none` for linear and for tiled modifiers without
/// compression, `any` for schemes without an enumerator (Intel's CCS, Arm's AFRC). Never `pvric`:
/// DRM has no modifier for it.
Compression compression_of(std::uint64_t modifier) noexcept;

/// enum v4l2_colorspace, v4l2_xfer_func, v4l2_ycbcr_encoding, v4l2_quantization; 0: default.
struct V4l2Colorimetry {
  std::uint32_t colorspace = 0;
  std::uint32_t xfer_func = 0;
  std::uint32_t ycbcr_enc = 0;
  std::uint32_t quantization = 0;
  friend bool operator==(const V4l2Colorimetry&, const V4l2Colorimetry&) = default;
};
/// Default encoding and quantization follow from the colorspace, as V4L2 defines for Y'CbCr; codes
/// without a counterpart give unknown.
Colorimetry colorimetry_from_v4l2(const V4l2Colorimetry& codes) noexcept;
/// Inverse of the above, with two exceptions: V4L2 has no code for hlg (the result is 0), and it
/// cannot leave the encoding or range of a known colorspace unknown.
V4l2Colorimetry v4l2_colorimetry(const Colorimetry& colorimetry) noexcept;

/// Values of a DRM plane's COLOR_ENCODING and COLOR_RANGE properties (enum drm_color_encoding,
/// drm_color_range). They do not include space and transfer.
struct DrmColorimetry {
  std::optional<std::uint32_t> encoding;
  std::optional<std::uint32_t> range;
  friend bool operator==(const DrmColorimetry&, const DrmColorimetry&) = default;
};
DrmColorimetry drm_colorimetry(const Colorimetry& colorimetry) noexcept;
Colorimetry colorimetry_from_drm(const DrmColorimetry& codes) noexcept;

/// Values for EGL_YUV_COLOR_SPACE_HINT_EXT and EGL_SAMPLE_RANGE_HINT_EXT.
struct EglColorimetry {
  std::optional<std::uint32_t> color_space_hint;
  std::optional<std::uint32_t> sample_range_hint;
  friend bool operator==(const EglColorimetry&, const EglColorimetry&) = default;
};
EglColorimetry egl_colorimetry(const Colorimetry& colorimetry) noexcept;
Colorimetry colorimetry_from_egl(const EglColorimetry& codes) noexcept;

}  // namespace halyard
HALYARD_EXPORTS_END
