// SPDX-License-Identifier: Apache-2.0
// Numbers are highp floats. Codes lie in [0, 255], weights sum to 1, so that a result is within
// 255 x taps x 2^-23 of the exact one: below 0.01 code for 64 samples.
#include "image/gl/shader_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace halyard::image {
namespace {

constexpr std::string_view components = "xyzw";

constexpr std::array<const char*, static_cast<std::size_t>(Uniform::count)> uniform_names = {
    "content", "size",    "pad",      "value_scale",  "value_bias", "yuv_in",
    "yuv_out", "yuv_yuv", "tap_rows", "source_scale", "origins",    "target_origin",
    "taps",    "plane0",  "plane1",   "plane2",       "plane3"};

constexpr std::string_view head = R"(#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
uniform ivec4 content;
uniform ivec2 size;
uniform vec4 pad;
uniform vec4 value_scale;
uniform vec4 value_bias;
uniform vec4 yuv_in[2];
uniform vec4 yuv_out[2];
uniform vec3 yuv_yuv[5];
uniform ivec4 tap_rows[2];
uniform float source_scale;
uniform ivec2 origins[4];
uniform ivec2 target_origin;
uniform sampler2D taps;
uniform sampler2D plane0;
uniform sampler2D plane1;
uniform sampler2D plane2;
uniform sampler2D plane3;
out vec4 result;

float tap(int output_index, int row) { return texelFetch(taps, ivec2(output_index, row), 0).x; }
vec4 clamped(vec4 codes) { return clamp(codes, 0.0, 255.0); }
)";

// Reads sample (x, y) of a channel as a code.
std::string sample_text(const ImageSpec& src, std::size_t channel) {
  const ChannelSite& site = src.channels->sites[channel];
  const std::size_t bytes = texel_bytes(src, site.plane);
  const auto texel = [&](std::string_view x) {
    return fmt::format("texelFetch(plane{0}, ivec2({1}, y) + origins[{0}], 0)", site.plane, x);
  };
  if (src.dtype == DType::u16) {
    return fmt::format("dot(floor({}.xy * 255.0 + 0.5), vec2(1.0, 256.0)) * source_scale",
                       texel("x"));
  }
  std::string sample;
  if (site.step == bytes) {
    sample = fmt::format("{}.{}", texel("x"), components[site.offset]);
  } else if (site.step > bytes) {
    sample = fmt::format("{}.x", texel(fmt::format("x * {} + {}", site.step, site.offset)));
  } else {  // two samples of luma in one texel of a pair
    sample = fmt::format("{}[{} + 2 * (x & 1)]", texel("x >> 1"), site.offset);
  }
  return fmt::format("floor({} * 255.0 + 0.5)", sample);
}

// read0() and read1(): the samples of a group's channels, the others 0.
std::string read_text(const ImageSpec& src, std::size_t group) {
  std::array<std::string, 4> parts = {"0.0", "0.0", "0.0", "0.0"};
  for (std::size_t c = 0; c < src.channels->count; ++c) {
    if (tap_group(src.channels->sites[c]) == group) parts[c] = sample_text(src, c);
  }
  return fmt::format("vec4 read{}(int x, int y) {{\n  return vec4({});\n}}\n", group,
                     fmt::join(parts, ",\n              "));
}

std::string count_text(std::int32_t count, std::size_t group, char component) {
  return count <= 2 ? std::to_string(count) : fmt::format("tap_rows[{}].{}", group, component);
}

// filter0() and filter1(): the filtered samples of a group at output `at`.
std::string filter_text(const TapTable& taps, std::size_t group) {
  return fmt::format(R"(vec4 filter{0}(ivec2 at) {{
  ivec4 rows = tap_rows[{0}];
  int x0 = int(tap(at.x, rows.x));
  int y0 = int(tap(at.y, rows.z));
  vec4 sum = vec4(0.0);
  for (int j = 0; j < {2}; ++j) {{
    vec4 line = vec4(0.0);
    for (int i = 0; i < {1}; ++i) line += tap(at.x, rows.x + 1 + i) * read{0}(x0 + i, y0 + j);
    sum += tap(at.y, rows.z + 1 + j) * line;
  }}
  return sum;
}}
)",
                     group, count_text(taps.x[group].count, group, 'y'),
                     count_text(taps.y[group].count, group, 'w'));
}

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

// pixel(): the codes of a destination pixel, of the content or the pad.
std::string pixel_text(const Plan& plan, const TapTable& taps) {
  const bool has_chroma = taps.x[1].count != 0;
  std::string out = fmt::format("vec4 coloured(vec4 p) {{\n{}{}{}  return clamped(p);\n}}\n",
                                plan.color.keeps_alpha ? "" : "  p.w = 255.0;\n",
                                alpha_text(plan.alpha), color_text(plan.color));
  out +=
      fmt::format(R"(vec4 pixel(int x, int y) {{
  ivec2 at = ivec2(x, y) - content.xy;
  if (any(lessThan(at, ivec2(0))) || any(greaterThanEqual(at, content.zw))) return pad;
{}  return coloured(filter0(at){});
}}
)",
                  plan.swaps_axes() ? "  at = at.yx;\n" : "", has_chroma ? " + filter1(at)" : "");
  return out;
}

// The mean of a block of pixels, of which the image may end inside.
std::string block_text(const ChannelSite& site) {
  return fmt::format(R"(vec4 block(int x, int y) {{
  vec4 sum = vec4(0.0);
  float count = 0.0;
  for (int j = 0; j < {}; ++j)
    for (int i = 0; i < {}; ++i) {{
      ivec2 at = ivec2(x * {} + i, y * {} + j);
      if (any(greaterThanEqual(at, size))) continue;
      sum += pixel(at.x, at.y);
      count += 1.0;
    }}
  return sum / count;
}}
)",
                     1 << site.shift_y, 1 << site.shift_x, 1 << site.shift_x, 1 << site.shift_y);
}

// IEEE numbers of 16 bits from those of 32, rounded to nearest even; subnormal halves too.
constexpr std::string_view half_text = R"(uint half_bits(float value) {
  uint bits = floatBitsToUint(value);
  uint sign = (bits >> 16) & 0x8000u;
  uint rest = bits & 0x7fffffffu;
  if (rest >= 0x477ff000u) return sign | (rest > 0x7f800000u ? 0x7e00u : 0x7c00u);
  if (rest < 0x38800000u) return sign | uint(roundEven(abs(value) * 16777216.0));
  rest += 0xfffu + ((rest >> 13) & 1u);
  return sign | ((rest - 0x38000000u) >> 13);
}
)";
constexpr std::string_view bfloat_text = R"(uint bfloat_bits(float value) {
  uint bits = floatBitsToUint(value);
  return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}
)";

struct Range {
  const char* low;
  const char* high;
};
Range range_of(DType dtype) {
  if (dtype == DType::i8) return {"-128.0", "127.0"};
  if (dtype == DType::u16) return {"0.0", "65535.0"};
  return {"0.0", "255.0"};
}

// stored(): the bits of one element. `c` counts the channels of the destination's model.
std::string store_text(const Plan& plan) {
  std::string body;
  std::string out;
  if (plan.values.kind != ValueMap::Kind::affine) {
    body = "  uint code = uint(floor(v + 0.5));\n";
    if (plan.values.kind == ValueMap::Kind::flip_sign) body += "  if (c != 3) code ^= 128u;\n";
    body += "  return code;\n";
  } else {
    body = "  float number = v * value_scale[c] + value_bias[c];\n";
    switch (plan.dst.dtype) {
      case DType::f32:
        body += "  return floatBitsToUint(number);\n";
        break;
      case DType::f16:
        out = half_text;
        body += "  return half_bits(number);\n";
        break;
      case DType::bf16:
        out = bfloat_text;
        body += "  return bfloat_bits(number);\n";
        break;
      default: {
        const Range range = range_of(plan.dst.dtype);
        body += fmt::format("  return uint(int(clamp(roundEven(number), {}, {}))) & {}u;\n",
                            range.low, range.high, plan.dst.dtype == DType::u16 ? 0xFFFF : 0xFF);
      }
    }
  }
  return fmt::format("{}uint stored(float v, int c) {{\n{}}}\n", out, body);
}

// The channel that an element of the plane holds.
std::size_t stored_channel(const Plan& plan, std::size_t plane, std::size_t offset) {
  const ChannelMap& map = *plan.dst.channels;
  for (std::size_t s = 0; s < map.count; ++s) {
    if (map.sites[s].plane != plane || map.sites[s].offset != offset) continue;
    return plan.bgr && s != 1 && s != 3 ? 2 - s : s;
  }
  return 0;
}

constexpr std::string_view write_text =
    R"(  result = vec4(float(word & 255u), float((word >> 8) & 255u), float((word >> 16) & 255u),
                float(word >> 24)) / 255.0;
}
)";

// main() for planes whose channels have one step: `step` elements for each sample.
std::string main_text(const Plan& plan, std::size_t plane, const ChannelSite& site) {
  const std::size_t element = size_of(plan.dst.dtype);
  std::string channels;
  for (std::size_t i = 0; i < site.step; ++i)
    channels += fmt::format("{}{}", i == 0 ? "" : ", ", stored_channel(plan, plane, i));
  const bool is_block = tap_group(site) == 1;
  return fmt::format(R"(const int channels[{1}] = int[{1}]({2});
void main() {{
  ivec2 at = ivec2(gl_FragCoord.xy) - target_origin;
  int samples = (size.x + {6}) >> {5};
  uint word = 0u;
  int last = -1;
  vec4 codes = vec4(0.0);
  for (int k = 0; k < {0}; ++k) {{
    int element = at.x * {0} + k;
    int x = min(element / {1}, samples - 1);
    if (x != last) codes = {4}(x, at.y);
    last = x;
    int c = channels[element % {1}];
    word |= stored(codes[c], c) << uint({3} * k);
  }}
{7})",
                     4 / element, site.step, channels, 8 * element, is_block ? "block" : "pixel",
                     site.shift_x, (1 << site.shift_x) - 1, write_text);
}

// main() for packed pairs: one texel holds two pixels.
std::string pair_text(const ChannelMap& map) {
  return fmt::format(R"(void main() {{
  ivec2 at = ivec2(gl_FragCoord.xy) - target_origin;
  vec4 left = pixel(2 * at.x, at.y);
  vec4 right = pixel(2 * at.x + 1, at.y);
  vec4 mean = (left + right) * 0.5;
  uint word = stored(left.x, 0) << {}u | stored(right.x, 0) << {}u | stored(mean.y, 1) << {}u |
              stored(mean.z, 2) << {}u;
{})",
                     8 * map.sites[0].offset, 8 * map.sites[0].offset + 16, 8 * map.sites[1].offset,
                     8 * map.sites[2].offset, write_text);
}

const ChannelSite& first_site(const ChannelMap& map, std::size_t plane) {
  return *std::find_if(map.sites.begin(), map.sites.end(),
                       [&](const ChannelSite& site) { return site.plane == plane; });
}

}  // namespace

const char* uniform_name(Uniform uniform) noexcept {
  return uniform_names[static_cast<std::size_t>(uniform)];
}

std::size_t texel_bytes(const ImageSpec& src, std::size_t plane) noexcept {
  std::size_t bytes = 1;
  for (std::size_t c = 0; c < src.channels->count; ++c) {
    const ChannelSite& site = src.channels->sites[c];
    if (site.plane == plane) bytes = std::max(bytes, site.step * size_of(src.dtype));
  }
  return bytes == 3 ? 1 : bytes;
}

bool stores_pairs(PixelFormat format) noexcept {
  return info(format).kind == FormatKind::packed && info(format).model == ColorModel::yuv;
}

std::string vertex_shader_text() {
  return "#version 300 es\n"
         "void main() {\n"
         "  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, "
         "1.0);\n"
         "}\n";
}

std::string fragment_shader_text(const Plan& plan, const TapTable& taps, std::size_t plane) {
  const ChannelMap& map = *plan.dst.channels;
  const ChannelSite& site = first_site(map, plane);
  std::string out(head);
  for (const std::size_t group : {std::size_t{0}, std::size_t{1}}) {
    if (taps.x[group].count == 0) continue;
    out += read_text(plan.src, group);
    out += filter_text(taps, group);
  }
  if (plan.color.from == ColorModel::yuv) out += from_yuv_text;
  if (plan.color.to == ColorModel::yuv) out += to_yuv_text;
  out += pixel_text(plan, taps);
  out += store_text(plan);
  if (stores_pairs(plan.dst.format)) return out + pair_text(map);
  if (tap_group(site) == 1) out += block_text(site);
  return out + main_text(plan, plane, site);
}

}  // namespace halyard::image
