// SPDX-License-Identifier: Apache-2.0
// Filters around any position, by the definitions of make_taps(). Positions are those of
// affine_rows.h; distances to samples are small, so that floats hold them.
#include "image/gl/shader/affine_text.h"

#include <fmt/format.h>

#include <string_view>

#include "image/cpu/resample/filter_kernel.h"
#include "image/gl/shader/source_layout.h"

namespace halyard::image {
namespace {

// Sines are ours: OpenGL ES does not say how exact its own are. The series of sin(pi t) is exact to
// 6e-8 for |t| <= 1/2.
constexpr std::string_view lanczos_text = R"(float sin_pi(float x) {
  float n = floor(x + 0.5);
  float t = x - n;
  float s = t * t;
  float v = t * (3.14159265 + s * (-5.16771278 + s * (2.55016404 + s * (-0.599264529 +
                 s * (0.0821458866 + s * -0.00737043094)))));
  return (int(n) & 1) == 0 ? v : -v;
}
float sinc(float x) {
  return abs(x) < 0.001 ? 1.0 - 1.64493407 * x * x : sin_pi(x) / (3.14159265 * x);
}
float weight(float x) { return abs(x) < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0; }
)";

// weight(): the kernel at a distance. Samples beyond a box are not asked for.
std::string weight_text(const Plan& plan) {
  switch (plan.filter) {
    case Filter::bicubic:
      return fmt::format(R"(float weight(float x) {{
  const float a = {};
  x = abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  return x < 2.0 ? (((x - 5.0) * x + 8.0) * x - 4.0) * a : 0.0;
}}
)",
                         plan.antialias ? "-0.5" : "-0.75");
    case Filter::lanczos3:
      return std::string(lanczos_text);
    case Filter::box:
      return "float weight(float x) { return 1.0; }\n";
    default:
      return "float weight(float x) { return max(0.0, 1.0 - abs(x)); }\n";
  }
}

// From image to chroma coordinates.
std::string halved_text(const ChannelSite& site) {
  std::string out;
  const auto halve = [&](char axis) {
    out += fmt::format(
        "  p.fraction.{0} = (p.fraction.{0} >> 1) | (uint(p.whole.{0}) << 31);\n"
        "  p.whole.{0} >>= 1;\n",
        axis);
  };
  if (site.shift_x != 0) halve('x');
  if (site.shift_y != 0) halve('y');
  return out;
}

constexpr std::string_view nearest_text = R"(  return under{0}(p);
}}
)";

// Edge samples repeat.
constexpr std::string_view repeated_text = R"(  p = moved(p, ivec2(-1), uvec2(0x80000000u));
  vec2 behind = vec2(p.fraction >> 8) / 16777216.0;
  vec4 sum = vec4(0.0);
  float total = 0.0;
  for (int j = {1}; j <= {2}; ++j) {{
    int y = clamp(p.whole.y + j, sample_range[{0}].y, sample_range[{0}].w);
    float row_weight = weight(float(j) - behind.y);
    for (int i = {1}; i <= {2}; ++i) {{
      int x = clamp(p.whole.x + i, sample_range[{0}].x, sample_range[{0}].z);
      float both = row_weight * weight(float(i) - behind.x);
      sum += both * read{0}(x, y);
      total += both;
    }}
  }}
  return sum / total;
}}
)";

// Kernels widen, and samples outside are left out. A box that lies between two samples can miss
// both.
constexpr std::string_view left_out_text = R"(  ivec4 border = affine_whole[{1}];
  uvec4 border_fraction = affine_fraction[{1}];
  ivec2 first = moved(p, border.xy, border_fraction.xy).whole + 1;
  ivec2 last = moved(p, border.zw, border_fraction.zw).whole;
  first = max(first, sample_range[{0}].xy);
  last = min(last, sample_range[{0}].zw);
  vec2 behind = vec2(p.fraction >> 8) / 16777216.0 - 0.5;
  vec2 narrowing = affine_narrowing[{0}];
  vec4 sum = vec4(0.0);
  float total = 0.0;
  for (int y = first.y; y <= last.y; ++y) {{
    float row_weight = weight((float(y - p.whole.y) - behind.y) * narrowing.y);
    for (int x = first.x; x <= last.x; ++x) {{
      float both = row_weight * weight((float(x - p.whole.x) - behind.x) * narrowing.x);
      sum += both * read{0}(x, y);
      total += both;
    }}
  }}
  return total == 0.0 ? under{0}(p) : sum / total;
}}
)";

constexpr std::string_view under_text = R"(vec4 under{0}(Place p) {{
  ivec2 at = moved(p, ivec2(0), uvec2(2u)).whole;
  at = clamp(at, sample_range[{0}].xy, sample_range[{0}].zw);
  return read{0}(at.x, at.y);
}}
)";

}  // namespace

std::string affine_text() {
  return R"(struct Place {
  ivec2 whole;
  uvec2 fraction;
};
Place moved(Place p, ivec2 whole, uvec2 fraction) {
  uvec2 sum = p.fraction + fraction;
  return Place(p.whole + whole + ivec2(lessThan(sum, fraction)), sum);
}
Place place_at(ivec2 at) {
  Place column = Place(ivec2(entry(at.x, 0), entry(at.x, 2)),
                       uvec2(entry(at.x, 1), entry(at.x, 3)));
  return moved(column, ivec2(entry(at.y, 4), entry(at.y, 6)),
               uvec2(entry(at.y, 5), entry(at.y, 7)));
}
bvec2 precedes(Place p, ivec2 whole, uvec2 fraction) {
  return bvec2(p.whole.x < whole.x || (p.whole.x == whole.x && p.fraction.x < fraction.x),
               p.whole.y < whole.y || (p.whole.y == whole.y && p.fraction.y < fraction.y));
}
bool is_shown(Place p) {
  return !any(precedes(p, affine_whole[0].xy, affine_fraction[0].xy)) &&
         all(precedes(p, affine_whole[0].zw, affine_fraction[0].zw));
}
)";
}

std::string affine_filter_text(const Plan& plan, std::size_t group) {
  const bool is_nearest =
      plan.filter == Filter::nearest || (plan.filter == Filter::box && !plan.antialias);
  const int support = static_cast<int>(Kernel{plan.filter, plan.antialias}.support());
  std::string out = fmt::format(under_text, group);
  if (!is_nearest && group == 0) out = weight_text(plan) + out;
  out += fmt::format("vec4 filter{}(Place p) {{\n", group);
  out += halved_text(*first_in_group(plan.src, group));
  if (is_nearest) return out + fmt::format(nearest_text, group);
  if (plan.antialias) return out + fmt::format(left_out_text, group, 1 + group);
  return out + fmt::format(repeated_text, group, 1 - support, support);
}

}  // namespace halyard::image
