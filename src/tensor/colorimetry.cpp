// SPDX-License-Identifier: Apache-2.0
// Colour constants: the luma weights of ITU-R BT.601, BT.709 and BT.2020, full and limited range.
#include "halyard/colorimetry.h"

#include <array>

namespace halyard {
namespace {

struct RangeCodes {
  double offset;
  double luma_swing;
  double chroma_swing;
};

RangeCodes codes_of(ColorRange range) noexcept {
  if (range == ColorRange::full) return {0, 255, 255};
  return {16, 219, 224};
}

}  // namespace

Colorimetry resolve(Colorimetry c, std::size_t height) noexcept {
  const bool is_hd = height == 0 || height >= 720;
  if (c.space == ColorSpace::unknown) {
    c.space = is_hd ? ColorSpace::bt709 : ColorSpace::smpte170m;
  }
  if (c.transfer == ColorTransfer::unknown) c.transfer = ColorTransfer::bt709;
  if (c.encoding == ColorEncoding::unknown) {
    c.encoding = is_hd ? ColorEncoding::bt709 : ColorEncoding::bt601;
  }
  if (c.range == ColorRange::unknown) c.range = ColorRange::limited;
  return c;
}

LumaWeights luma_weights(ColorEncoding encoding) noexcept {
  switch (encoding) {
    case ColorEncoding::bt709:
      return {0.2126, 0.0722};
    case ColorEncoding::bt2020:
      return {0.2627, 0.0593};
    default:
      return {0.299, 0.114};
  }
}

YuvToRgb yuv_to_rgb(ColorEncoding encoding, ColorRange range) noexcept {
  const auto [kr, kb] = luma_weights(encoding);
  const double kg = 1 - kr - kb;
  const RangeCodes codes = codes_of(range);
  const double c = 255 / codes.chroma_swing;
  return {codes.offset,
          255 / codes.luma_swing,
          2 * (1 - kr) * c,
          2 * (1 - kb) * kb / kg * c,
          2 * (1 - kr) * kr / kg * c,
          2 * (1 - kb) * c};
}

RgbToYuv rgb_to_yuv(ColorEncoding encoding, ColorRange range) noexcept {
  const auto [kr, kb] = luma_weights(encoding);
  const RangeCodes codes = codes_of(range);
  const double c = codes.chroma_swing / 255;
  return {codes.offset,       codes.luma_swing / 255, kr, 1 - kr - kb, kb,
          c / (2 * (1 - kb)), c / (2 * (1 - kr))};
}

std::string_view to_string(ColorEncoding encoding) noexcept {
  constexpr std::array<std::string_view, 4> names = {"unknown", "bt601", "bt709", "bt2020"};
  const auto index = static_cast<std::size_t>(encoding);
  return index < names.size() ? names[index] : names[0];
}

std::string_view to_string(ColorRange range) noexcept {
  constexpr std::array<std::string_view, 3> names = {"unknown", "full", "limited"};
  const auto index = static_cast<std::size_t>(range);
  return index < names.size() ? names[index] : names[0];
}

}  // namespace halyard
