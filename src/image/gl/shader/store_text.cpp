// SPDX-License-Identifier: Apache-2.0
#include "image/gl/shader/store_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "image/gl/shader/source_layout.h"

namespace halyard::image {
namespace {

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
std::string element_text(const Plan& plan) {
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

const ChannelSite& first_site(const ImageSpec& dst, std::size_t plane) {
  const ChannelMap& map = *dst.channels;
  return *std::find_if(map.sites.begin(), map.sites.end(),
                       [&](const ChannelSite& site) { return site.plane == plane; });
}

// The channel that an element of the plane holds.
std::size_t channel_of(const Plan& plan, std::size_t plane, std::size_t offset) {
  const ChannelMap& map = *plan.dst.channels;
  for (std::size_t s = 0; s < map.count; ++s) {
    if (map.sites[s].plane != plane || map.sites[s].offset != offset) continue;
    return plan.bgr && s != 1 && s != 3 ? 2 - s : s;
  }
  return 0;
}

constexpr std::string_view bytes_text = R"(vec4 bytes_of(uint word) {
  return vec4(float(word & 255u), float((word >> 8) & 255u), float((word >> 16) & 255u),
              float(word >> 24)) / 255.0;
}
)";

// main() for one plane whose channels have one step: `step` elements for each sample.
std::string plane_text(const Plan& plan, std::size_t plane) {
  const ChannelSite& site = first_site(plan.dst, plane);
  const std::size_t element = size_of(plan.dst.dtype);
  std::string channels;
  for (std::size_t i = 0; i < site.step; ++i)
    channels += fmt::format("{}{}", i == 0 ? "" : ", ", channel_of(plan, plane, i));
  return fmt::format(R"(out vec4 result;
const int channels[{1}] = int[{1}]({2});
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
  result = bytes_of(word);
}}
)",
                     4 / element, site.step, channels, 8 * element,
                     sample_group(site) == 1 ? "block" : "pixel", site.shift_x,
                     (1 << site.shift_x) - 1);
}

// main() for several planes of one channel each.
std::string planes_text(const Plan& plan, PlaneRange planes) {
  constexpr std::string_view components = "xyzw";
  const ChannelSite& site = first_site(plan.dst, planes.first);
  const std::size_t element = size_of(plan.dst.dtype);
  std::string outputs;
  std::string store;
  std::string write;
  for (std::size_t i = 0; i < planes.count; ++i) {
    const std::size_t c = channel_of(plan, planes.first + i, 0);
    outputs += fmt::format("layout(location = {0}) out vec4 result{0};\n", i);
    store += fmt::format("    words.{} |= stored(codes.{}, {}) << uint({} * k);\n", components[i],
                         components[c], c, 8 * element);
    write += fmt::format("  result{} = bytes_of(words.{});\n", i, components[i]);
  }
  return fmt::format(R"({}void main() {{
  ivec2 at = ivec2(gl_FragCoord.xy) - target_origin;
  int samples = (size.x + {}) >> {};
  uvec4 words = uvec4(0u);
  for (int k = 0; k < {}; ++k) {{
    vec4 codes = {}(min(at.x * {} + k, samples - 1), at.y);
{}  }}
{}}}
)",
                     outputs, (1 << site.shift_x) - 1, site.shift_x, 4 / element,
                     sample_group(site) == 1 ? "block" : "pixel", 4 / element, store, write);
}

// main() for packed pairs: one texel holds two pixels. The last pair of an odd width repeats its
// pixel.
std::string pair_text(const ChannelMap& map) {
  return fmt::format(R"(out vec4 result;
void main() {{
  ivec2 at = ivec2(gl_FragCoord.xy) - target_origin;
  vec4 left = pixel(2 * at.x, at.y);
  vec4 right = pixel(min(2 * at.x + 1, size.x - 1), at.y);
  vec4 mean = (left + right) * 0.5;
  result = bytes_of(stored(left.x, 0) << {}u | stored(right.x, 0) << {}u |
                    stored(mean.y, 1) << {}u | stored(mean.z, 2) << {}u);
}}
)",
                     8 * map.sites[0].offset, 8 * map.sites[0].offset + 16, 8 * map.sites[1].offset,
                     8 * map.sites[2].offset);
}

bool stores_pairs(PixelFormat format) noexcept {
  return info(format).kind == FormatKind::packed && info(format).model == ColorModel::yuv;
}

}  // namespace

PlaneRange planes_alike(const ImageSpec& dst, std::size_t first) noexcept {
  const ChannelSite& site = first_site(dst, first);
  PlaneRange out{first, 1};
  for (std::size_t plane = first + 1; site.step == 1 && plane < info(dst.format).planes; ++plane) {
    const ChannelSite& other = first_site(dst, plane);
    if (other.step != 1 || other.shift_x != site.shift_x || other.shift_y != site.shift_y) break;
    ++out.count;
  }
  return out;
}

std::int32_t pixels_of_texel(const ImageSpec& dst) noexcept {
  std::int32_t most = 1;
  const auto elements = static_cast<std::int32_t>(4 / size_of(dst.dtype));
  for (std::size_t c = 0; c < dst.channels->count; ++c) {
    const ChannelSite& site = dst.channels->sites[c];
    const std::int32_t samples =
        site.step == 3 ? std::min(elements, 2) : std::max(elements / site.step, 1);
    most = std::max(most, samples << (site.shift_x + site.shift_y));
  }
  return most;
}

std::string store_text(const Plan& plan, PlaneRange planes) {
  std::string out = element_text(plan);
  out += bytes_text;
  if (stores_pairs(plan.dst.format)) return out + pair_text(*plan.dst.channels);
  const ChannelSite& site = first_site(plan.dst, planes.first);
  if (sample_group(site) == 1) out += block_text(site);
  return out + (planes.count == 1 ? plane_text(plan, planes.first) : planes_text(plan, planes));
}

}  // namespace halyard::image
