// SPDX-License-Identifier: Apache-2.0
// Makes plans from requests; all checks of the front are here.
#include "image/plan.h"

#include <cmath>
#include <utility>

#include "base/region.h"
#include "base/text/format_error.h"

namespace halyard::image {
namespace {

Status check_request(const Convert& request) {
  const auto outside = [](const char* what) -> Status {
    return fail(Errc::invalid_argument, what);
  };
  const Orientation upright = request.orientation.value_or(Orientation{});
  if (request.flip > Flip::horizontal || upright.flip > Flip::horizontal)
    return outside("flip: not a value of Flip");
  if (request.rotation > Rotation::cw270 || upright.rotation > Rotation::cw270)
    return outside("rotation: not a value of Rotation");
  if (request.fit > Fit::top_left) return outside("fit: not a value of Fit");
  if (request.letterbox > LetterboxRule::ultralytics_val)
    return outside("letterbox: not a value of LetterboxRule");
  if (request.filter > Filter::box) return outside("filter: not a value of Filter");
  if (request.chroma > Chroma::bilinear) return outside("chroma: not a value of Chroma");
  if (request.alpha > AlphaStep::unpremultiply) return outside("alpha: not a value of AlphaStep");
  return {};
}

// A NaN fails every comparison. A size too small for weights to show counts as empty.
Status check_crop(const RegionF& r, Size image) {
  constexpr double minimum = 0x1p-16;
  if (r.x >= 0 && r.y >= 0 && r.width >= minimum && r.height >= minimum &&
      r.x + r.width <= image.width && r.y + r.height <= image.height) {
    return {};
  }
  return fail(Errc::invalid_argument, "crop: empty or outside the source",
              "{}x{} at ({}, {}), the image is {}x{}", r.width, r.height, r.x, r.y, image.width,
              image.height);
}

Status check_place(const Region& r, Size image) {
  if (is_inside(r, image)) return {};
  return fail(Errc::invalid_argument, "place: empty or outside the destination",
              "{}x{} at ({}, {}), the image is {}x{}", r.width, r.height, r.x, r.y, image.width,
              image.height);
}

Status check_affine(const Convert& request) {
  const auto& m = request.affine->m;
  const Affine back = inverse(*request.affine);
  const bool has_inverse = std::isfinite(m[0] * m[4] - m[1] * m[3]);
  for (std::size_t i = 0; i < 6; ++i) {
    if (!has_inverse || !std::isfinite(m[i]) || !std::isfinite(back.m[i])) {
      return fail(Errc::invalid_argument, "affine: needs finite elements and an inverse",
                  "[{} {} {}; {} {} {}]", m[0], m[1], m[2], m[3], m[4], m[5]);
    }
  }
  if (request.fit != Fit::stretch || request.flip != Flip::none ||
      request.rotation != Rotation::none) {
    return fail(Errc::invalid_argument, "affine: fit, flip and rotation must be unset");
  }
  return {};
}

Result<int> bits_of(const Convert& request, DType dtype) {
  if (dtype == DType::u8) {
    if (request.source_bits == 0 || request.source_bits == 8) return 8;
    return fail(Errc::invalid_argument, "source_bits: must be 0 or 8 for u8 sources", "{}",
                request.source_bits);
  }
  if (request.source_bits == 0) return 16;
  if (request.source_bits >= 8 && request.source_bits <= 16) return int{request.source_bits};
  return fail(Errc::invalid_argument, "source_bits: must be 0 or 8..16", "{}", request.source_bits);
}

ColorStep color_step(const ImageSpec& src, const ImageSpec& dst) {
  const FormatInfo& from = info(src.format);
  const FormatInfo& to = info(dst.format);
  const auto height = [](const ImageSpec& p) { return static_cast<std::size_t>(p.size.height); };
  const Colorimetry in = resolve(src.colorimetry, height(src));
  const Colorimetry out = resolve(dst.colorimetry, height(dst));
  ColorStep step;
  step.from = from.model == ColorModel::bayer ? ColorModel::rgb : from.model;
  step.to = to.model;
  step.keeps_alpha = from.has_alpha && to.has_alpha;
  step.same_yuv = in.encoding == out.encoding && in.range == out.range;
  if (from.model == ColorModel::yuv) step.from_yuv = yuv_to_rgb(in.encoding, in.range);
  if (to.model == ColorModel::yuv) step.to_yuv = rgb_to_yuv(out.encoding, out.range);
  return step;
}

// The pad is R G B A; the destination's own step from RGB makes its channels.
Pixel pad_pixel(const std::array<std::uint8_t, 4>& rgba, const ColorStep& color) {
  ColorStep from_rgb = color;
  from_rgb.from = ColorModel::rgb;
  from_rgb.keeps_alpha = true;
  return from_rgb.apply({static_cast<double>(rgba[0]), static_cast<double>(rgba[1]),
                         static_cast<double>(rgba[2]), static_cast<double>(rgba[3])});
}

// The part of the crop that is shown when its rotated image must cover the place. Multiplies before
// it divides: integers stay exact, and a rounding error in the last bit adds no pixel.
RegionF covering(const RegionF& crop, double width, double height, Size place, bool swaps) {
  double shown_width = width;
  double shown_height = height;
  if (width * place.height > height * place.width) {
    shown_width = height * place.width / place.height;
  } else {
    shown_height = width * place.height / place.width;
  }
  if (swaps) std::swap(shown_width, shown_height);
  return {crop.x + (crop.width - shown_width) / 2, crop.y + (crop.height - shown_height) / 2,
          shown_width, shown_height};
}

Region content_region(const Convert& request, const Plan& plan, const Region& place) {
  const Size target{place.width, place.height};
  Region content{0, 0, place.width, place.height};
  if (request.fit == Fit::letterbox) {
    content = letterbox_region(plan.rotated_width, plan.rotated_height, target, request.letterbox);
  } else if (request.fit == Fit::top_left) {
    content = letterbox_region(plan.rotated_width, plan.rotated_height, target, LetterboxRule::hal);
    content.x = content.y = 0;
  }
  return {content.x + place.x, content.y + place.y, content.width, content.height};
}

void set_rotated_size(Plan& plan) {
  plan.rotated_width = plan.swaps_axes() ? plan.crop.height : plan.crop.width;
  plan.rotated_height = plan.swaps_axes() ? plan.crop.width : plan.crop.height;
}

bool is_whole(double value) {
  return value == std::floor(value);
}

// The map from pixels as they are stored to those of the upright image.
Affine to_upright(Size stored, Orientation orientation) {
  const Size upright = oriented(stored, orientation);
  return Placement(stored, Region{0, 0, stored.width, stored.height}, orientation, upright,
                   {0, 0, upright.width, upright.height})
      .forward();
}

void set_placement(const Convert& request, const Region& place, Orientation upright, Plan& plan) {
  plan.placement =
      Placement(oriented(plan.src.size, upright), oriented(plan.crop, plan.src.size, upright),
                {request.flip, request.rotation}, plan.dst.size, plan.content);
  if (request.fit == Fit::letterbox)
    plan.placement.set_nominal_scale(request.letterbox, {place.width, place.height});
}

Status set_geometry(const Convert& request, Plan& plan) {
  const Orientation upright = request.orientation.value_or(plan.src.orientation);
  const Size source = oriented(plan.src.size, upright);
  const Size target = plan.dst.size;
  const RegionF crop = request.crop.value_or(Region{0, 0, source.width, source.height});
  const Region place = request.place.value_or(Region{0, 0, target.width, target.height});
  HALYARD_RETURN_IF_ERROR(check_crop(crop, source));
  HALYARD_RETURN_IF_ERROR(check_place(place, target));
  plan.crop = oriented(crop, source, inverse(upright));
  if (request.affine) {
    HALYARD_RETURN_IF_ERROR(check_affine(request));
    plan.affine = upright == Orientation{}
                      ? *request.affine
                      : then(to_upright(plan.src.size, upright), *request.affine);
    plan.content = place;
    plan.resampled = true;
    plan.placement = Placement(source, crop, *request.affine, target, place);
    set_rotated_size(plan);
    return {};
  }
  plan.orientation = then(upright, {request.flip, request.rotation});
  set_rotated_size(plan);
  if (request.fit == Fit::cover) {
    plan.crop = covering(plan.crop, plan.rotated_width, plan.rotated_height,
                         {place.width, place.height}, plan.swaps_axes());
    set_rotated_size(plan);
  }
  plan.content = content_region(request, plan, place);
  plan.resampled = plan.rotated_width != plan.content.width ||
                   plan.rotated_height != plan.content.height || !is_whole(plan.crop.x) ||
                   !is_whole(plan.crop.y);
  set_placement(request, place, upright, plan);
  return {};
}

// The axis of an image that counts its channels, if there is one.
std::optional<std::size_t> channel_axis(PixelFormat format) {
  const FormatInfo& known = info(format);
  if (known.channels == 1 || known.model == ColorModel::yuv) return std::nullopt;
  return known.kind == FormatKind::planar ? 0 : 2;
}

Status check_colorimetry(const Colorimetry& c, const char* what) {
  const auto refuse = [what](const char* axis, auto value) {
    return fail(Errc::invalid_argument, what, "{} has no value {}", axis,
                static_cast<unsigned>(value));
  };
  if (c.space > ColorSpace::smpte170m) return refuse("colorimetry.space", c.space);
  if (c.transfer > ColorTransfer::linear) return refuse("colorimetry.transfer", c.transfer);
  if (c.encoding > ColorEncoding::bt2020) return refuse("colorimetry.encoding", c.encoding);
  if (c.range > ColorRange::limited) return refuse("colorimetry.range", c.range);
  return {};
}

Status check_upright(const ImageSpec& dst) {
  if (dst.orientation == Orientation{}) return {};
  return fail(Errc::invalid_argument,
              "dst: carries an orientation, but pixels are stored upright; "
              "set_orientation({}) removes it");
}

Status check_alpha(const Plan& plan) {
  if (plan.alpha == AlphaStep::keep || plan.color.keeps_alpha) return {};
  return fail(Errc::invalid_argument, "alpha: needs alpha in source and destination", "{} -> {}",
              to_string(plan.src.format), to_string(plan.dst.format));
}

Status check_bgr(const Plan& plan) {
  if (!plan.bgr || plan.color.to == ColorModel::rgb) return {};
  return fail(Errc::invalid_argument, "bgr: needs a destination of red, green and blue", "it is {}",
              to_string(plan.dst.format));
}

}  // namespace

Result<ImageSpec> spec_of(const Tensor& image, const char* what) {
  if (image.is_empty()) return fail(Errc::invalid_argument, what, "it is empty");
  if (!image.is_image()) {
    return fail(Errc::invalid_argument, what, "it is not an image; give it a format (with_format)");
  }
  HALYARD_RETURN_IF_ERROR(check_colorimetry(image.colorimetry(), what));
  ImageSpec spec;
  spec.format = *image.format();
  spec.dtype = image.dtype();
  spec.size = image.size();
  if (image.orientation().flip > Flip::horizontal ||
      image.orientation().rotation > Rotation::cw270) {
    return fail(Errc::invalid_argument, what, "its orientation is not a value of Orientation");
  }
  spec.orientation = image.orientation();
  spec.colorimetry = image.colorimetry();
  spec.quantization = image.quantization();
  spec.channels = channel_map(spec.format);
  return spec;
}

Result<ImageSpec> spec_of_destination(const Tensor& dst) {
  constexpr const char* what = "dst: must be an image of known colorimetry";
  if (dst.is_image()) return spec_of(dst, what);
  if (dst.is_empty()) return fail(Errc::invalid_argument, "dst: is empty");
  const auto image = dst.as_image();
  if (!image) {
    return fail(image.error().code, "dst: cannot be read as an image", "{}",
                image.error().message());
  }
  HALYARD_TRY(ImageSpec spec, spec_of(*image, what));
  // as_image() drops a quantization whose axis it drops; here it must be refused instead.
  spec.quantization = dst.quantization();
  if (spec.quantization && spec.quantization->axis)
    *spec.quantization->axis -= dst.rank() - image->rank();
  return spec;
}

Result<Plan> make_plan(const Convert& request, const Tensor& src, const Tensor& dst,
                       ColorimetryMode mode) {
  HALYARD_RETURN_IF_ERROR(check_request(request));
  Plan plan;
  HALYARD_TRY(plan.src, spec_of(src, "src: must be an image of known colorimetry"));
  HALYARD_TRY(plan.dst, spec_of_destination(dst));
  HALYARD_RETURN_IF_ERROR(check_upright(plan.dst));
  if (const char* reason =
          conversion_declined(plan.src.format, plan.src.dtype, plan.dst.format, plan.dst.dtype)) {
    return fail(Errc::unsupported, reason, "{} {} -> {} {}", to_string(plan.src.format),
                to_string(plan.src.dtype), to_string(plan.dst.format), to_string(plan.dst.dtype));
  }
  HALYARD_TRY(plan.source_bits, bits_of(request, plan.src.dtype));
  HALYARD_RETURN_IF_ERROR(set_geometry(request, plan));
  plan.filter = request.filter;
  plan.antialias = request.antialias;
  plan.replicates_chroma = !plan.resampled && request.chroma == Chroma::replicate;
  plan.alpha = request.alpha;
  plan.bgr = request.bgr;
  plan.exact = mode == ColorimetryMode::exact;
  plan.color = color_step(plan.src, plan.dst);
  HALYARD_RETURN_IF_ERROR(check_alpha(plan));
  HALYARD_RETURN_IF_ERROR(check_bgr(plan));
  plan.pad = pad_pixel(request.pad, plan.color);
  HALYARD_TRY(plan.values, make_value_map(plan.dst.dtype, plan.dst.quantization, request.normalize,
                                          channel_axis(plan.dst.format)));
  return plan;
}

}  // namespace halyard::image
