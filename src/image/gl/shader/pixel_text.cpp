// SPDX-License-Identifier: Apache-2.0
#include "image/gl/shader/pixel_text.h"

#include <fmt/format.h>

#include <string_view>

#include "image/gl/shader/source_layout.h"

namespace halyard::image {
namespace {

constexpr std::string_view from_yuv_text = R"(vec4 rgb_from_yuv(vec4 p) {
  float l = max((p.x - yuv_in[0].x) * yuv_in[0].y, 0.0);
  float u = p.y - 128.0;
  float v = p.z - 128.0;
  return clamped(vec4(l + yuv_in[0].z * v, l - yuv_in[0].w * u - yuv_in[1].x * v,
                      l + yuv_in[1].y * u, 255.0));
}
)";

constexpr std::string_view to_yuv_text = R"(vec4 yuv_from_rgb(vec4 p) {
  float l = dot(p.xyz, vec3(yuv_out[0].z, yuv_out[0].w, yuv_out[1].x));
  return vec4(yuv_out[0].x + yuv_out[0].y * l, 128.0 + yuv_out[1].y * (p.z - l),
              128.0 + yuv_out[1].z * (p.x - l), 255.0);
}
)";

// The body of coloured(): `p` becomes a pixel of the destination's model.
std::string_view color_text(const ColorStep& step) {
  if (step.from == step.to && (step.from != ColorModel::yuv || step.same_yuv)) return "";
  if (step.to == ColorModel::grey) {
    return step.from == ColorModel::yuv ? "  p.x = (p.x - yuv_in[0].x) * yuv_in[0].y;\n"
                                        : "  p.x = dot(p.xyz, vec3(0.299, 0.587, 0.114));\n";
  }
  if (step.from == ColorModel::grey && step.to == ColorModel::yuv)
    return "  p = vec4(yuv_out[0].x + yuv_out[0].y * p.x, 128.0, 128.0, 255.0);\n";
  if (step.from == ColorModel::grey) return "  p = p.xxxw;\n";
  if (step.from == ColorModel::rgb) return "  p = yuv_from_rgb(p);\n";
  if (step.to == ColorModel::rgb) return "  p = rgb_from_yuv(p);\n";
  return "  vec3 in_codes = p.xyz - yuv_yuv[0];\n"
         "  p.xyz = yuv_yuv[4] + vec3(dot(yuv_yuv[1], in_codes), dot(yuv_yuv[2], in_codes),\n"
         "                            dot(yuv_yuv[3], in_codes));\n";
}

std::string_view alpha_text(AlphaStep step) {
  switch (step) {
    case AlphaStep::premultiply:
      return "  p.xyz *= p.w / 255.0;\n";
    case AlphaStep::unpremultiply:
      return "  p.xyz = p.w > 0.0 ? p.xyz * 255.0 / p.w : vec3(0.0);\n";
    case AlphaStep::keep:
      break;
  }
  return "";
}

// From an output to what filter0() and filter1() take.
std::string_view place_text(const Plan& plan) {
  if (plan.affine) return "  Place place = place_at(at);\n  if (!is_shown(place)) return pad;\n";
  return plan.swaps_axes() ? "  ivec2 place = at.yx;\n" : "  ivec2 place = at;\n";
}

}  // namespace

std::string pixel_text(const Plan& plan) {
  const bool has_chroma = first_in_group(plan.src, 1) != nullptr;
  return fmt::format(
      R"({}{}vec4 coloured(vec4 p) {{
{}{}{}  return clamped(p);
}}
vec4 pixel(int x, int y) {{
  ivec2 at = ivec2(x, y) - content.xy;
  if (any(lessThan(at, ivec2(0))) || any(greaterThanEqual(at, content.zw))) return pad;
{}  return coloured(filter0(place){});
}}
)",
      plan.color.from == ColorModel::yuv ? from_yuv_text : "",
      plan.color.to == ColorModel::yuv ? to_yuv_text : "",
      plan.color.keeps_alpha ? "" : "  p.w = 255.0;\n", alpha_text(plan.alpha),
      color_text(plan.color), place_text(plan), has_chroma ? " + filter1(place)" : "");
}

}  // namespace halyard::image
