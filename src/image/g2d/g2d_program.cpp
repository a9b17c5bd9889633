// SPDX-License-Identifier: Apache-2.0
// Decides which plans the blitter computes, and translates them.
#include "image/g2d/g2d_program.h"

#include <algorithm>
#include <cmath>

namespace halyard::image::g2d {
namespace {

constexpr std::int32_t min_extent = 4;

std::optional<SurfaceFormat> source_format(PixelFormat format) noexcept {
  switch (format) {
    case PixelFormat::rgba:
      return SurfaceFormat::rgba8888;
    case PixelFormat::bgra:
      return SurfaceFormat::bgra8888;
    case PixelFormat::nv12:
      return SurfaceFormat::nv12;
    case PixelFormat::yuyv:
      return SurfaceFormat::yuyv;
    default:
      return std::nullopt;
  }
}

std::optional<SurfaceFormat> target_format(PixelFormat format, bool bgr) noexcept {
  switch (format) {
    case PixelFormat::rgba:
      return bgr ? SurfaceFormat::bgra8888 : SurfaceFormat::rgba8888;
    case PixelFormat::bgra:
      return bgr ? SurfaceFormat::rgba8888 : SurfaceFormat::bgra8888;
    case PixelFormat::rgb:
      return bgr ? std::nullopt : std::optional(SurfaceFormat::rgb888);
    case PixelFormat::yuyv:
      return SurfaceFormat::yuyv;
    default:
      return std::nullopt;
  }
}

bool is_yuv(const ImageSpec& image) noexcept {
  return info(image.format).model == ColorModel::yuv;
}

// The colorimetry of the one matrix that the plan needs; none without YUV.
std::optional<Colorimetry> matrix_colorimetry(const Plan& plan) noexcept {
  const ImageSpec& side = is_yuv(plan.src) ? plan.src : plan.dst;
  if (!is_yuv(side)) return std::nullopt;
  return halyard::resolve(side.colorimetry, static_cast<std::size_t>(side.size.height));
}

Capability capability_of(const Colorimetry& c) noexcept {
  const bool full = c.range == ColorRange::full;
  if (c.encoding == ColorEncoding::bt601) return full ? Capability::bt601_full : Capability::bt601;
  return full ? Capability::bt709_full : Capability::bt709;
}

Verdict check_formats(const Plan& plan) noexcept {
  if (!source_format(plan.src.format))
    return Verdict::decline("the source's format is not rgba, bgra, nv12 or yuyv");
  if (!target_format(plan.dst.format, plan.bgr))
    return Verdict::decline("the destination's format is not rgba, bgra, rgb or yuyv");
  if (plan.src.dtype != DType::u8 || plan.dst.dtype != DType::u8 ||
      plan.values.kind != ValueMap::Kind::identity) {
    return Verdict::decline("stores 8-bit codes only");
  }
  if (plan.alpha != AlphaStep::keep)
    return Verdict::decline("does not multiply or divide by alpha");
  return Verdict::accept();
}

bool on_whole_pixels(const RegionF& r) noexcept {
  return r.x == std::floor(r.x) && r.y == std::floor(r.y) && r.width == std::floor(r.width) &&
         r.height == std::floor(r.height);
}

Region whole_region(const RegionF& r) noexcept {
  return {static_cast<std::int32_t>(r.x), static_cast<std::int32_t>(r.y),
          static_cast<std::int32_t>(r.width), static_cast<std::int32_t>(r.height)};
}

// Some devices garble subsampled images whose rectangles or sizes are odd.
bool is_even(const Region& r, Size size) noexcept {
  return ((r.x | r.y | r.width | r.height | size.width | size.height) & 1) == 0;
}

Verdict check_geometry(const Plan& plan) noexcept {
  if (plan.affine) return Verdict::decline("does not serve affine maps");
  if (!on_whole_pixels(plan.crop)) return Verdict::decline("the crop's sides lie between pixels");
  const Region crop = whole_region(plan.crop);
  if (std::min({crop.width, crop.height, plan.content.width, plan.content.height}) < min_extent)
    return Verdict::decline("an image is smaller than 4 x 4 pixels");
  if (is_yuv(plan.src) && !is_even(crop, plan.src.size))
    return Verdict::decline("the subsampled source has an odd size or crop");
  if (is_yuv(plan.dst) && !is_even(plan.content, plan.dst.size))
    return Verdict::decline("the subsampled destination has an odd size or place");
  return Verdict::accept();
}

// The device filters and converts colours with a fixed point of its own, whose results are not
// known to be within 1 code of the formulas.
Verdict check_rounding(const Plan& plan, const Limits& limits) noexcept {
  if (!plan.resampled && !is_yuv(plan.src) && !is_yuv(plan.dst)) return Verdict::accept();
  if (!limits.may_round) {
    return Verdict::decline(
        "scales and converts YUV with a rounding of its own, which "
        "HALYARD_FORCE_BACKEND=g2d permits");
  }
  if (plan.exact)
    return Verdict::decline("scales and converts YUV with a rounding of its own, not exactly");
  if (plan.resampled && (plan.filter != Filter::bilinear || plan.antialias))
    return Verdict::decline("scales by its bilinear filter only, without antialias");
  if (!plan.resampled && is_yuv(plan.src) && !plan.replicates_chroma)
    return Verdict::decline("does not interpolate chroma at 1:1");
  return Verdict::accept();
}

Verdict check_colours(const Plan& plan, const Limits& limits) noexcept {
  const std::optional<Colorimetry> colours = matrix_colorimetry(plan);
  if (!colours) return Verdict::accept();
  if (is_yuv(plan.src) && is_yuv(plan.dst) && !plan.color.same_yuv)
    return Verdict::decline("does not convert from one YUV matrix or range to another");
  if (colours->encoding != ColorEncoding::bt601 && colours->encoding != ColorEncoding::bt709)
    return Verdict::decline("has matrices of BT.601 and BT.709 only");
  const Capability needed = capability_of(*colours);
  if ((needed == Capability::bt601_full && !limits.has_bt601_full) ||
      (needed == Capability::bt709_full && !limits.has_bt709_full)) {
    return Verdict::decline("this device has no full-range matrix");
  }
  return Verdict::accept();
}

SurfaceOrientation orientation_of(Flip flip) noexcept {
  if (flip == Flip::none) return SurfaceOrientation::none;
  return flip == Flip::horizontal ? SurfaceOrientation::flip_horizontal
                                  : SurfaceOrientation::flip_vertical;
}

std::uint32_t packed_color(const Pixel& rgba) noexcept {
  std::uint32_t color = 0;
  for (std::size_t c = 0; c < rgba.size(); ++c)
    color |= std::uint32_t{round_to_code(rgba[c])} << (8 * c);
  return color;
}

}  // namespace

Verdict check_plan(const Plan& plan, const Limits& limits) noexcept {
  Verdict verdict = check_formats(plan);
  if (verdict) verdict = check_geometry(plan);
  if (verdict) verdict = check_rounding(plan, limits);
  if (verdict) verdict = check_colours(plan, limits);
  return verdict;
}

Formats formats_of(const Plan& plan) noexcept {
  return {*source_format(plan.src.format), *target_format(plan.dst.format, plan.bgr)};
}

Region crop_of(const Plan& plan) noexcept {
  return whole_region(plan.crop);
}

G2dProgram::G2dProgram(const Plan& plan)
    : flip(orientation_of(plan.orientation.flip)),
      rotation(static_cast<SurfaceOrientation>(plan.orientation.rotation)) {
  if (const auto colours = matrix_colorimetry(plan)) matrix = capability_of(*colours);
  if (!plan.pads()) return;
  clears = is_cleared(formats_of(plan).target);
  if (clears) {
    clear_color = packed_color(plan.pad);
  } else {
    pad.emplace(plan, plan.content);
  }
}

}  // namespace halyard::image::g2d
