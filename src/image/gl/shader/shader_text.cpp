// SPDX-License-Identifier: Apache-2.0
// Numbers are highp floats. Codes lie in [0, 255], weights sum to 1, so that a result is within
// 255 x taps x 2^-23 of the exact one: below 0.01 code for 64 samples.
#include "image/gl/shader/shader_text.h"

#include <array>
#include <string_view>

#include "image/gl/shader/affine_text.h"
#include "image/gl/shader/pixel_text.h"
#include "image/gl/shader/source_text.h"

namespace halyard::image {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(Uniform::count)> uniform_names = {
    "content",
    "size",
    "pad",
    "value_scale",
    "value_bias",
    "yuv_in",
    "yuv_out",
    "yuv_yuv",
    "tap_rows",
    "sample_range",
    "affine_whole",
    "affine_fraction",
    "affine_narrowing",
    "source_scale",
    "source_size",
    "mosaic_parity",
    "origins",
    "target_origin",
    "taps",
    "filtered0",
    "filtered1",
    "plane0",
    "plane1",
    "plane2",
    "plane3"};

constexpr std::string_view head = R"(#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp usampler2D;
uniform ivec4 content;
uniform ivec2 size;
uniform vec4 pad;
uniform vec4 value_scale;
uniform vec4 value_bias;
uniform vec4 yuv_in[2];
uniform vec4 yuv_out[2];
uniform vec3 yuv_yuv[5];
uniform ivec4 tap_rows[2];
uniform ivec4 sample_range[2];
uniform ivec4 affine_whole[3];
uniform uvec4 affine_fraction[3];
uniform vec2 affine_narrowing[2];
uniform float source_scale;
uniform ivec2 source_size;
uniform ivec2 mosaic_parity;
uniform ivec2 origins[4];
uniform ivec2 target_origin;
uniform usampler2D taps;
uniform usampler2D filtered0;
uniform usampler2D filtered1;
uniform sampler2D plane0;
uniform sampler2D plane1;
uniform sampler2D plane2;
uniform sampler2D plane3;

uint entry(int at, int row) { return texelFetch(taps, ivec2(at, row), 0).x; }
int first_sample(int at, int row) { return int(entry(at, row)); }
float tap(int at, int row) { return uintBitsToFloat(entry(at, row)); }
vec4 clamped(vec4 codes) { return clamp(codes, 0.0, 255.0); }
)";

}  // namespace

const char* uniform_name(Uniform uniform) noexcept {
  return uniform_names[static_cast<std::size_t>(uniform)];
}

std::string vertex_shader_text() {
  return "#version 300 es\n"
         "void main() {\n"
         "  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, "
         "1.0);\n"
         "}\n";
}

std::string fragment_shader_text(const Plan& plan, const TapTable& taps, PlaneRange planes) {
  const bool is_second_pass = takes_two_passes(plan);
  std::string out(head);
  if (plan.affine) out += affine_text();
  for (std::size_t group = 0; group < group_count; ++group) {
    if (first_in_group(plan.src, group) == nullptr) continue;
    if (is_second_pass) {
      out += filter_columns_text(plan.src, taps, group);
      continue;
    }
    out += read_text(plan.src, group);
    out += plan.affine ? affine_filter_text(plan, group) : filter_text(taps, group);
  }
  return out + pixel_text(plan) + store_text(plan, planes);
}

std::string row_shader_text(const Plan& plan, const TapTable& taps, std::size_t group) {
  return std::string(head) + read_text(plan.src, group) + filter_rows_text(plan.src, taps, group);
}

}  // namespace halyard::image
