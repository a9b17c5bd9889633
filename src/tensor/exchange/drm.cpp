// SPDX-License-Identifier: Apache-2.0
// Names of pixel formats, modifiers and compression in DRM and V4L2. Colours: drm_colorimetry.cpp.
#include "halyard/drm.h"

#include <algorithm>
#include <array>

#include "base/text/format_error.h"
#include "halyard/enumerators.h"

namespace halyard {
namespace {

using F = PixelFormat;
using T = DType;

constexpr std::uint32_t code(const char (&text)[5]) noexcept {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i)
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])) << (8 * i);
  return value;
}

// One layout and its codes in drm_fourcc.h and videodev2.h; 0: no code.
struct Row {
  PixelLayout layout;
  std::uint32_t drm = 0;
  std::uint32_t v4l2 = 0;
  std::uint32_t v4l2_planes = 0;  // the code for planes in separate buffers
};

constexpr std::array rows = {
    Row{{F::rgb, T::u8}, code("BG24"), code("RGB3")},
    Row{{F::bgr, T::u8}, code("RG24"), code("BGR3")},
    Row{{F::rgba, T::u8}, code("AB24"), code("AB24")},
    Row{{F::bgra, T::u8}, code("AR24"), code("AR24")},
    Row{{F::grey, T::u8}, code("R8  "), code("GREY")},
    Row{{F::grey, T::u16}, code("R16 "), code("Y16 ")},
    Row{{F::rgb, T::u16}, code("BG48"), code("RGB6")},
    Row{{F::bgr, T::u16}, code("RG48"), code("BGR6")},
    Row{{F::rgba, T::u16}, code("AB48")},
    Row{{F::bgra, T::u16}, code("AR48")},
    Row{{F::rgb, T::f16}, code("BGRH")},
    Row{{F::rgba, T::f16}, code("AB4H")},
    Row{{F::bgra, T::f16}, code("AR4H")},
    Row{{F::yuyv, T::u8}, code("YUYV"), code("YUYV")},
    Row{{F::yvyu, T::u8}, code("YVYU"), code("YVYU")},
    Row{{F::uyvy, T::u8}, code("UYVY"), code("UYVY")},
    Row{{F::vyuy, T::u8}, code("VYUY"), code("VYUY")},
    Row{{F::nv12, T::u8}, code("NV12"), code("NV12"), code("NM12")},
    Row{{F::nv21, T::u8}, code("NV21"), code("NV21"), code("NM21")},
    Row{{F::nv16, T::u8}, code("NV16"), code("NV16"), code("NM16")},
    Row{{F::nv24, T::u8}, code("NV24"), code("NV24")},
    Row{{F::i420, T::u8}, code("YU12"), code("YU12"), code("YM12")},
    Row{{F::bayer_rggb, T::u8}, 0, code("RGGB")},
    Row{{F::bayer_bggr, T::u8}, 0, code("BA81")},
    Row{{F::bayer_grbg, T::u8}, 0, code("GRBG")},
    Row{{F::bayer_gbrg, T::u8}, 0, code("GBRG")},
    Row{{F::bayer_rggb, T::u16}, 0, code("RG16")},
    Row{{F::bayer_bggr, T::u16}, 0, code("BYR2")},
    Row{{F::bayer_grbg, T::u16}, 0, code("GR16")},
    Row{{F::bayer_gbrg, T::u16}, 0, code("GB16")},
};

// Codes that are read as another layout: the alpha byte exists, but its value is undefined.
struct Undefined {
  std::uint32_t drm;
  std::uint32_t v4l2;
  PixelLayout layout;
};
constexpr std::array without_alpha = {
    Undefined{code("XB24"), code("XB24"), {F::rgba, T::u8}},
    Undefined{code("XR24"), code("XR24"), {F::bgra, T::u8}},
    Undefined{code("XB48"), 0, {F::rgba, T::u16}},
    Undefined{code("XR48"), 0, {F::bgra, T::u16}},
    Undefined{code("XB4H"), 0, {F::rgba, T::f16}},
    Undefined{code("XR4H"), 0, {F::bgra, T::f16}},
};

const Row* row_of(PixelLayout layout) noexcept {
  const auto* row = std::find_if(rows.begin(), rows.end(),
                                 [&layout](const Row& r) { return r.layout == layout; });
  return row == rows.end() ? nullptr : row;
}

std::optional<std::uint32_t> present(std::uint32_t fourcc) noexcept {
  return fourcc == 0 ? std::nullopt : std::optional(fourcc);
}

constexpr std::array<std::string_view, 13> vendors = {
    "none",     "intel", "amd",       "nvidia",  "samsung", "qcom", "vivante",
    "broadcom", "arm",   "allwinner", "amlogic", "mtk",     "apple"};
enum class Vendor : std::uint8_t {
  intel = 1,
  amd = 2,
  nvidia = 3,
  qcom = 5,
  vivante = 6,
  arm = 8,
  amlogic = 10,
  mtk = 11,
  apple = 12
};

constexpr std::uint64_t bits(std::uint64_t value, unsigned first, unsigned count) noexcept {
  return (value >> first) & ((std::uint64_t{1} << count) - 1);
}

// Whether an Intel modifier has a colour control surface: true for all but the plain tilings.
bool is_intel_compressed(std::uint64_t value) noexcept {
  constexpr std::uint64_t last_y_tiling = 3, four_tiled = 9, last_known = 17;
  return value > last_y_tiling && value <= last_known && value != four_tiled;
}

}  // namespace

std::optional<std::uint32_t> drm_fourcc(PixelLayout layout) noexcept {
  const Row* row = row_of(layout);
  return row == nullptr ? std::nullopt : present(row->drm);
}

std::optional<PixelLayout> layout_from_drm(std::uint32_t fourcc) noexcept {
  if (fourcc == 0) return std::nullopt;
  for (const Row& row : rows)
    if (row.drm == fourcc) return row.layout;
  for (const Undefined& row : without_alpha)
    if (row.drm == fourcc) return row.layout;
  return std::nullopt;
}

std::optional<std::uint32_t> v4l2_pixel_format(PixelLayout layout, std::size_t planes) noexcept {
  const Row* row = row_of(layout);
  if (row == nullptr) return std::nullopt;
  if (planes == 1) return present(row->v4l2);
  return planes == info(layout.format).planes ? present(row->v4l2_planes) : std::nullopt;
}

std::optional<PixelLayout> layout_from_v4l2(std::uint32_t fourcc) noexcept {
  if (fourcc == 0) return std::nullopt;
  for (const Row& row : rows)
    if (row.v4l2 == fourcc || row.v4l2_planes == fourcc) return row.layout;
  for (const Undefined& row : without_alpha)
    if (row.v4l2 == fourcc) return row.layout;
  return std::nullopt;
}

std::string fourcc_to_string(std::uint32_t fourcc) {
  std::string text;
  for (unsigned i = 0; i < 4; ++i) {
    const auto byte = static_cast<unsigned char>(fourcc >> (8 * i));
    if (byte < 0x20 || byte > 0x7E) return fmt::format("{:#010x}", fourcc);
    text.push_back(static_cast<char>(byte));
  }
  return text;
}

std::string modifier_to_string(std::uint64_t modifier) {
  if (modifier == drm_modifier_linear) return "linear";
  if (modifier == drm_modifier_invalid) return "invalid";
  const auto vendor = static_cast<std::size_t>(modifier >> 56);
  return fmt::format("{} {:#018x}", vendor < vendors.size() ? vendors[vendor] : "unknown",
                     modifier);
}

std::string_view to_string(Compression compression) noexcept {
  return enumerator_name(compression, "unknown");
}

std::optional<Compression> compression_from_string(std::string_view name) noexcept {
  return enumerator_from<Compression>(name);
}

Compression compression_of(std::uint64_t modifier) noexcept {
  const std::uint64_t value = bits(modifier, 0, 56);
  const auto unnamed_if = [](bool compressed) {
    return compressed ? Compression::any : Compression::none;
  };
  switch (static_cast<Vendor>(modifier >> 56)) {
    case Vendor::arm: {
      constexpr std::uint64_t afbc = 0, afrc = 2;
      const std::uint64_t type = bits(value, 52, 4);
      return type == afbc ? Compression::afbc : unnamed_if(type == afrc);
    }
    case Vendor::qcom:
      return value == 1 ? Compression::ubwc : Compression::none;
    case Vendor::amd:
      return bits(value, 13, 1) != 0 ? Compression::dcc : Compression::none;
    case Vendor::intel:
      return unnamed_if(is_intel_compressed(value));
    case Vendor::nvidia:
      return unnamed_if(bits(value, 4, 1) != 0 && bits(value, 23, 3) != 0);
    case Vendor::vivante:
      return unnamed_if(bits(value, 52, 4) != 0);
    case Vendor::amlogic:
      return Compression::any;  // all of its modifiers are frame buffer compression
    case Vendor::mtk:
      return unnamed_if(bits(value, 8, 4) != 0);
    case Vendor::apple:
      return unnamed_if(value == 2);
  }
  return Compression::none;
}

}  // namespace halyard
