// SPDX-License-Identifier: Apache-2.0
// Colorimetry: which colours the numbers of an image mean, as four independent, optional axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "halyard/export.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

enum class ColorSpace : std::uint8_t {
  unknown = 0,
  bt709 = 1,
  bt2020 = 2,
  srgb = 3,
  smpte170m = 4
};
enum class ColorTransfer : std::uint8_t {
  unknown = 0,
  bt709 = 1,
  srgb = 2,
  pq = 3,
  hlg = 4,
  linear = 5
};
enum class ColorEncoding : std::uint8_t { unknown = 0, bt601 = 1, bt709 = 2, bt2020 = 3 };
enum class ColorRange : std::uint8_t { unknown = 0, full = 1, limited = 2 };

/// An image's colorimetry; every axis may be unknown. Only encoding and range affect pixel
/// arithmetic. A JPEG is {srgb, srgb, bt601, full}.
struct Colorimetry {
  ColorSpace space = ColorSpace::unknown;
  ColorTransfer transfer = ColorTransfer::unknown;
  ColorEncoding encoding = ColorEncoding::unknown;
  ColorRange range = ColorRange::unknown;
  friend bool operator==(const Colorimetry&, const Colorimetry&) = default;

  static constexpr Colorimetry jpeg() noexcept {
    return {ColorSpace::srgb, ColorTransfer::srgb, ColorEncoding::bt601, ColorRange::full};
  }
};

/// Fills unknown axes for an image of this height: from 720 rows (or 0: unknown height) BT.709
/// space and encoding, below 720 rows SMPTE 170M space and BT.601 encoding; transfer BT.709; range
/// limited.
Colorimetry resolve(Colorimetry colorimetry, std::size_t height) noexcept;

/// Luma weights of an encoding (ITU-R BT.601, BT.709, BT.2020); kg = 1 - kr - kb.
struct LumaWeights {
  double kr;
  double kb;
};
LumaWeights luma_weights(ColorEncoding encoding) noexcept;

/// Y'CbCr -> R'G'B' for 8-bit codes, resolved axes only:
/// l = max(0, y_scale * (Y - y_offset)); R = l + rv (V - 128); G = l - gu (U - 128) - gv (V - 128);
/// B = l + bu (U - 128).
struct YuvToRgb {
  double y_offset;
  double y_scale;
  double rv, gu, gv, bu;
};
YuvToRgb yuv_to_rgb(ColorEncoding encoding, ColorRange range) noexcept;

/// R'G'B' -> Y'CbCr for 8-bit codes: Y = y_offset + y_scale (kr R + kg G + kb B) and
/// U = 128 + u_scale (B - L), V = 128 + v_scale (R - L), with L the unscaled luma.
struct RgbToYuv {
  double y_offset;
  double y_scale;  ///< swing / 255
  double kr, kg, kb;
  double u_scale, v_scale;
};
RgbToYuv rgb_to_yuv(ColorEncoding encoding, ColorRange range) noexcept;

std::string_view to_string(ColorEncoding encoding) noexcept;
std::string_view to_string(ColorRange range) noexcept;

}  // namespace halyard
HALYARD_EXPORTS_END
