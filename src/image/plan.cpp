// SPDX-License-Identifier: Apache-2.0
// From request to plan: every check of the front is here.
#include "image/plan.h"

#include <utility>

#include "base/format_error.h"

namespace halyard::image {
namespace {

Status check_words(const Convert& request) {
  if (request.flip > Flip::horizontal)
    return fail(Errc::invalid_argument, "flip: not a value of Flip");
  if (request.rotation > Rotation::cw270)
    return fail(Errc::invalid_argument, "rotation: not a value of Rotation");
  if (request.fit > Fit::letterbox) return fail(Errc::invalid_argument, "fit: not a value of Fit");
  if (request.filter > Filter::box)
    return fail(Errc::invalid_argument, "filter: not a value of Filter");
  if (request.chroma > Chroma::bilinear)
    return fail(Errc::invalid_argument, "chroma: not a value of Chroma");
  return {};
}

Status check_region(const Region& r, Size picture, const char* what) {
  if (r.x >= 0 && r.y >= 0 && r.width > 0 && r.height > 0 && r.x <= picture.width - r.width &&
      r.y <= picture.height - r.height) {
    return {};
  }
  return fail(Errc::invalid_argument, what, "{}x{} at ({}, {}), the picture is {}x{}", r.width,
              r.height, r.x, r.y, picture.width, picture.height);
}

Status check_source(const Tensor& src) {
  if (src.is_empty()) return fail(Errc::invalid_argument, "src: is empty");
  if (!src.is_image()) {
    return fail(Errc::invalid_argument, "src: is not a picture; give it a format (with_format)");
  }
  if (src.dtype() != DType::u8) {
    return fail(Errc::unsupported, "src: element type must be u8", "it is {}",
                to_string(src.dtype()));
  }
  return {};
}

Result<const ChannelMap*> channels_of(PixelFormat format, const char* what) {
  const ChannelMap* map = channel_map(format);
  if (map == nullptr) return fail(Errc::unsupported, what, "{}", to_string(format));
  return map;
}

ColorStep color_step(const Tensor& src, const Tensor& dst) {
  const FormatInfo& from = info(*src.format());
  const FormatInfo& to = info(*dst.format());
  const Colorimetry in = resolve(src.colorimetry(), src.height());
  const Colorimetry out = resolve(dst.colorimetry(), dst.height());
  ColorStep step;
  step.from = from.model;
  step.to = to.model;
  step.keeps_alpha = from.has_alpha && to.has_alpha;
  step.same_yuv = in.encoding == out.encoding && in.range == out.range;
  if (from.model == ColorModel::yuv) step.from_yuv = yuv_to_rgb(in.encoding, in.range);
  if (to.model == ColorModel::yuv) step.to_yuv = rgb_to_yuv(out.encoding, out.range);
  return step;
}

// The pad is R G B A; the destination's own step from RGB turns it into its channels.
Pixel pad_pixel(const std::array<std::uint8_t, 4>& rgba, const ColorStep& color) {
  ColorStep from_rgb = color;
  from_rgb.from = ColorModel::rgb;
  from_rgb.keeps_alpha = true;
  return from_rgb.apply({static_cast<double>(rgba[0]), static_cast<double>(rgba[1]),
                         static_cast<double>(rgba[2]), static_cast<double>(rgba[3])});
}

Region content_region(const Convert& request, Size turned, const Region& place) {
  if (request.fit == Fit::stretch) return place;
  Region content = letterbox_region(turned, {place.width, place.height});
  content.x += place.x;
  content.y += place.y;
  return content;
}

Status set_geometry(const Convert& request, Plan& plan) {
  const Size source = plan.src.size();
  const Size target = plan.dst.size();
  const RegionF asked = request.crop.value_or(Region{0, 0, source.width, source.height});
  const Region crop{static_cast<std::int32_t>(asked.x), static_cast<std::int32_t>(asked.y),
                    static_cast<std::int32_t>(asked.width),
                    static_cast<std::int32_t>(asked.height)};
  const Region place = request.place.value_or(Region{0, 0, target.width, target.height});
  HALYARD_CHECK(check_region(crop, source, "crop: empty or outside the source"));
  HALYARD_CHECK(check_region(place, target, "place: empty or outside the destination"));
  plan.flip = request.flip;
  plan.rotation = request.rotation;
  plan.turned = plan.swaps_axes() ? Size{crop.height, crop.width} : Size{crop.width, crop.height};
  const Region content = content_region(request, plan.turned, place);
  plan.placement = Placement(source, crop, {request.flip, request.rotation}, target, content);
  plan.resampled = plan.turned != Size{content.width, content.height};
  return {};
}

}  // namespace

Result<Plan> make_plan(const Convert& request) {
  HALYARD_CHECK(check_words(request));
  HALYARD_CHECK(check_source(request.src));
  if (request.dst.is_empty()) return fail(Errc::invalid_argument, "dst: is empty");
  HALYARD_TRY(Tensor dst, request.dst.as_image());
  if (aliases(request.src, dst)) {
    return fail(Errc::invalid_argument, "dst: shares bytes with src; convert into another tensor");
  }
  Plan plan;
  plan.src = request.src;
  plan.dst = std::move(dst);
  plan.src_format = *plan.src.format();
  plan.dst_format = *plan.dst.format();
  plan.dst_dtype = plan.dst.dtype();
  HALYARD_TRY(plan.src_channels, channels_of(plan.src_format, "src: format is not served"));
  HALYARD_TRY(plan.dst_channels, channels_of(plan.dst_format, "dst: format is not served"));
  HALYARD_CHECK(set_geometry(request, plan));
  plan.filter = request.filter;
  plan.antialias = request.antialias;
  plan.replicates_chroma = !plan.resampled && request.chroma == Chroma::replicate;
  plan.color = color_step(plan.src, plan.dst);
  plan.pad = pad_pixel(request.pad, plan.color);
  HALYARD_TRY(plan.values,
              make_value_map(plan.dst_dtype, request.dst.quantization(), request.normalize));
  return plan;
}

}  // namespace halyard::image
