// SPDX-License-Identifier: Apache-2.0
#include "image/gl/shader/source_text.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace halyard::image {
namespace {

constexpr std::string_view components = "xyzw";

// Sample (x, y) of a channel as a code.
std::string sample_text(const ImageSpec& src, const ChannelSite& site) {
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

// A colour is the mean of its two or four nearest samples. Beyond the image's edges samples are
// mirrored about the last one, so that the pattern continues.
std::string mosaic_text(const ImageSpec& src) {
  return fmt::format(R"(float stored_sample(int x, int y) {{
  return {};
}}
float mosaic(int x, int y) {{
  ivec2 at = abs(ivec2(x, y));
  at = max(min(at, 2 * (source_size - 1) - at), 0);
  return stored_sample(at.x, at.y);
}}
vec4 read0(int x, int y) {{
  float here = mosaic(x, y);
  float beside = 0.5 * (mosaic(x - 1, y) + mosaic(x + 1, y));
  float stacked = 0.5 * (mosaic(x, y - 1) + mosaic(x, y + 1));
  bool has_red = (y & 1) == mosaic_parity.x;
  if (((x ^ y) & 1) == mosaic_parity.y)
    return has_red ? vec4(beside, here, stacked, 0.0) : vec4(stacked, here, beside, 0.0);
  float green = 0.5 * (beside + stacked);
  float diagonal = 0.25 * (mosaic(x - 1, y - 1) + mosaic(x + 1, y - 1) +
                           mosaic(x - 1, y + 1) + mosaic(x + 1, y + 1));
  return has_red ? vec4(here, green, diagonal, 0.0) : vec4(diagonal, green, here, 0.0);
}}
)",
                     sample_text(src, stored_channels(src).sites[0]));
}

std::string count_text(std::int32_t count, std::size_t group, char component) {
  return count <= 2 ? std::to_string(count) : fmt::format("tap_rows[{}].{}", group, component);
}

}  // namespace

std::string read_text(const ImageSpec& src, std::size_t group) {
  if (src.channels == nullptr) return mosaic_text(src);
  std::array<std::string, 4> parts = {"0.0", "0.0", "0.0", "0.0"};
  for (std::size_t c = 0; c < src.channels->count; ++c) {
    const ChannelSite& site = src.channels->sites[c];
    if (sample_group(site) == group) parts[c] = sample_text(src, site);
  }
  return fmt::format("vec4 read{}(int x, int y) {{\n  return vec4({});\n}}\n", group,
                     fmt::join(parts, ",\n              "));
}

std::string filter_text(const TapTable& taps, std::size_t group) {
  return fmt::format(R"(vec4 filter{0}(ivec2 at) {{
  ivec4 rows = tap_rows[{0}];
  int x0 = first_sample(at.x, rows.x);
  int y0 = first_sample(at.y, rows.z);
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

RowTexel row_texel(const ImageSpec& src, std::size_t group) noexcept {
  if (src.channels == nullptr) return {0, 4};
  RowTexel texel;
  std::size_t channels = 0;
  for (std::size_t c = src.channels->count; c-- > 0;) {
    if (sample_group(src.channels->sites[c]) != group) continue;
    texel.first_channel = c;
    ++channels;
  }
  texel.components = channels == 3 ? 4 : channels;
  return texel;
}

std::string filter_rows_text(const ImageSpec& src, const TapTable& taps, std::size_t group) {
  constexpr std::string_view rotated = "xyzwxyz";
  return fmt::format(R"(out uvec4 result;
void main() {{
  ivec2 at = ivec2(gl_FragCoord.xy);
  ivec4 rows = tap_rows[{0}];
  int x0 = first_sample(at.x, rows.x);
  int y = at.y + sample_range[{0}].y;
  vec4 sum = vec4(0.0);
  for (int i = 0; i < {1}; ++i) sum += tap(at.x, rows.x + 1 + i) * read{0}(x0 + i, y);
  result = floatBitsToUint(sum.{2});
}}
)",
                     group, count_text(taps.x[group].count, group, 'y'),
                     rotated.substr(row_texel(src, group).first_channel, 4));
}

std::string filter_columns_text(const ImageSpec& src, const TapTable& taps, std::size_t group) {
  const RowTexel texel = row_texel(src, group);
  std::array<std::string, 4> parts = {"0.0", "0.0", "0.0", "0.0"};
  for (std::size_t i = 0; i < texel.components; ++i)
    parts[texel.first_channel + i] = fmt::format("line.{}", components[i]);
  return fmt::format(R"(vec4 filter{0}(ivec2 at) {{
  ivec4 rows = tap_rows[{0}];
  int y0 = first_sample(at.y, rows.z) - sample_range[{0}].y;
  vec4 sum = vec4(0.0);
  for (int j = 0; j < {1}; ++j) {{
    vec4 line = uintBitsToFloat(texelFetch(filtered{0}, ivec2(at.x, y0 + j), 0));
    sum += tap(at.y, rows.z + 1 + j) * vec4({2});
  }}
  return sum;
}}
)",
                     group, count_text(taps.y[group].count, group, 'w'), fmt::join(parts, ", "));
}

}  // namespace halyard::image
