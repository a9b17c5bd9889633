// SPDX-License-Identifier: Apache-2.0
// Colorimetry in the codes of V4L2, DRM planes and EGL images: videodev2.h, drm_color_mgmt.h and
// EGL_EXT_image_dma_buf_import.
#include <algorithm>
#include <array>

#include "halyard/drm.h"

namespace halyard {
namespace {

// One value and its code. If several rows have the same value, to_code() uses the first.
template <class Axis>
struct Pair {
  Axis axis;
  std::uint32_t code;
};

template <class Axis, std::size_t N>
Axis from_code(const std::array<Pair<Axis>, N>& table, std::uint32_t code) noexcept {
  for (const auto& row : table)
    if (row.code == code) return row.axis;
  return Axis::unknown;
}

template <class Axis, std::size_t N>
std::optional<std::uint32_t> to_code(const std::array<Pair<Axis>, N>& table, Axis axis) noexcept {
  for (const auto& row : table)
    if (row.axis == axis) return row.code;
  return std::nullopt;
}

template <class Axis, std::size_t N>
Axis from_optional(const std::array<Pair<Axis>, N>& table,
                   std::optional<std::uint32_t> code) noexcept {
  return code ? from_code(table, *code) : Axis::unknown;
}

namespace v4l2 {
constexpr std::uint32_t smpte170m = 1, smpte240m = 2, rec709 = 3, system_m = 5, system_bg = 6,
                        jpeg = 7, srgb = 8, oprgb = 9, bt2020 = 10, dci_p3 = 12;
constexpr std::array<Pair<ColorSpace>, 7> spaces = {{{ColorSpace::smpte170m, smpte170m},
                                                     {ColorSpace::bt709, rec709},
                                                     {ColorSpace::srgb, srgb},
                                                     {ColorSpace::bt2020, bt2020},
                                                     {ColorSpace::smpte170m, system_m},
                                                     {ColorSpace::smpte170m, system_bg},
                                                     {ColorSpace::srgb, jpeg}}};
constexpr std::array<Pair<ColorTransfer>, 4> transfers = {{{ColorTransfer::bt709, 1},
                                                           {ColorTransfer::srgb, 2},
                                                           {ColorTransfer::linear, 5},
                                                           {ColorTransfer::pq, 7}}};
constexpr std::array<Pair<ColorEncoding>, 3> encodings = {
    {{ColorEncoding::bt601, 1}, {ColorEncoding::bt709, 2}, {ColorEncoding::bt2020, 6}}};
constexpr std::array<Pair<ColorRange>, 2> ranges = {
    {{ColorRange::full, 1}, {ColorRange::limited, 2}}};

// As V4L2_MAP_YCBCR_ENC_DEFAULT.
ColorEncoding default_encoding(std::uint32_t colorspace) noexcept {
  switch (colorspace) {
    case smpte170m:
    case system_m:
    case system_bg:
    case jpeg:
    case srgb:
    case oprgb:
      return ColorEncoding::bt601;
    case rec709:
    case dci_p3:
      return ColorEncoding::bt709;
    case bt2020:
      return ColorEncoding::bt2020;
    default:
      return ColorEncoding::unknown;
  }
}

// As V4L2_MAP_QUANTIZATION_DEFAULT for Y'CbCr.
ColorRange default_range(std::uint32_t colorspace) noexcept {
  if (colorspace == jpeg) return ColorRange::full;
  const bool known = default_encoding(colorspace) != ColorEncoding::unknown;
  return known || colorspace == smpte240m ? ColorRange::limited : ColorRange::unknown;
}
}  // namespace v4l2

namespace drm {
constexpr std::array<Pair<ColorEncoding>, 3> encodings = {
    {{ColorEncoding::bt601, 0}, {ColorEncoding::bt709, 1}, {ColorEncoding::bt2020, 2}}};
constexpr std::array<Pair<ColorRange>, 2> ranges = {
    {{ColorRange::limited, 0}, {ColorRange::full, 1}}};
}  // namespace drm

namespace egl {
constexpr std::array<Pair<ColorEncoding>, 3> encodings = {{{ColorEncoding::bt601, 0x327F},
                                                           {ColorEncoding::bt709, 0x3280},
                                                           {ColorEncoding::bt2020, 0x3281}}};
constexpr std::array<Pair<ColorRange>, 2> ranges = {
    {{ColorRange::full, 0x3282}, {ColorRange::limited, 0x3283}}};
}  // namespace egl

}  // namespace

Colorimetry colorimetry_from_v4l2(const V4l2Colorimetry& codes) noexcept {
  Colorimetry c;
  c.space = from_code(v4l2::spaces, codes.colorspace);
  c.transfer = from_code(v4l2::transfers, codes.xfer_func);
  c.encoding = codes.ycbcr_enc == 0 ? v4l2::default_encoding(codes.colorspace)
                                    : from_code(v4l2::encodings, codes.ycbcr_enc);
  c.range = codes.quantization == 0 ? v4l2::default_range(codes.colorspace)
                                    : from_code(v4l2::ranges, codes.quantization);
  return c;
}

V4l2Colorimetry v4l2_colorimetry(const Colorimetry& c) noexcept {
  return {
      to_code(v4l2::spaces, c.space).value_or(0), to_code(v4l2::transfers, c.transfer).value_or(0),
      to_code(v4l2::encodings, c.encoding).value_or(0), to_code(v4l2::ranges, c.range).value_or(0)};
}

DrmColorimetry drm_colorimetry(const Colorimetry& c) noexcept {
  return {to_code(drm::encodings, c.encoding), to_code(drm::ranges, c.range)};
}

Colorimetry colorimetry_from_drm(const DrmColorimetry& codes) noexcept {
  Colorimetry c;
  c.encoding = from_optional(drm::encodings, codes.encoding);
  c.range = from_optional(drm::ranges, codes.range);
  return c;
}

EglColorimetry egl_colorimetry(const Colorimetry& c) noexcept {
  return {to_code(egl::encodings, c.encoding), to_code(egl::ranges, c.range)};
}

Colorimetry colorimetry_from_egl(const EglColorimetry& codes) noexcept {
  Colorimetry c;
  c.encoding = from_optional(egl::encodings, codes.color_space_hint);
  c.range = from_optional(egl::ranges, codes.sample_range_hint);
  return c;
}

}  // namespace halyard
