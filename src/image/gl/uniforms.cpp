// SPDX-License-Identifier: Apache-2.0
#include "image/gl/uniforms.h"

#include <epoxy/gl.h>

#include <span>

namespace halyard::image {
namespace {

void set_vec4(GLint at, std::span<const double, 4> v) {
  glUniform4f(at, static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2]),
              static_cast<float>(v[3]));
}

using Locations = decltype(Shader::locations);

// Uniforms that a shader does not use are at -1, where OpenGL ignores them.
GLint location(const Locations& at, Uniform uniform) {
  return at[static_cast<std::size_t>(uniform)];
}

void set_colors(const Locations& at, const ColorStep& color) {
  const YuvToRgb& in = color.from_yuv;
  const RgbToYuv& out = color.to_yuv;
  const auto number = [](double v) { return static_cast<float>(v); };
  const std::array<float, 8> yuv_in = {number(in.y_offset),
                                       number(in.y_scale),
                                       number(in.rv),
                                       number(in.gu),
                                       number(in.gv),
                                       number(in.bu),
                                       0,
                                       0};
  const std::array<float, 8> yuv_out = {
      number(out.y_offset), number(out.y_scale), number(out.kr),      number(out.kg),
      number(out.kb),       number(out.u_scale), number(out.v_scale), 0};
  glUniform4fv(location(at, Uniform::yuv_in), 2, yuv_in.data());
  glUniform4fv(location(at, Uniform::yuv_out), 2, yuv_out.data());
  if (location(at, Uniform::yuv_yuv) < 0) return;
  const YuvToYuv m = yuv_to_yuv(in, out);
  std::array<float, 15> both{};
  for (std::size_t i = 0; i < 3; ++i) {
    both[i] = number(m.offset[i]);
    for (std::size_t c = 0; c < 3; ++c)
      both[3 + 3 * c + i] = number(m.weight[c][i]);
    both[12 + i] = number(m.bias[i]);
  }
  glUniform3fv(location(at, Uniform::yuv_yuv), 5, both.data());
}

// Where samples are, and which are read.
void set_samples(const Locations& at, const GlProgram& program) {
  const TapTable& taps = program.taps();
  std::array<GLint, 4 * group_count> rows{};
  for (std::size_t group = 0; group < group_count; ++group) {
    rows[4 * group] = taps.x[group].row;
    rows[4 * group + 1] = taps.x[group].count;
    rows[4 * group + 2] = taps.y[group].row;
    rows[4 * group + 3] = taps.y[group].count;
  }
  glUniform4iv(location(at, Uniform::tap_rows), group_count, rows.data());
  glUniform4iv(location(at, Uniform::sample_range), group_count, program.sample_range().data());
  const Size source = program.plan().src.size;
  glUniform2i(location(at, Uniform::source_size), source.width, source.height);
  const PixelFormat format = program.plan().src.format;
  const bool has_red = format == PixelFormat::bayer_rggb || format == PixelFormat::bayer_grbg;
  const bool has_green = format == PixelFormat::bayer_grbg || format == PixelFormat::bayer_gbrg;
  glUniform2i(location(at, Uniform::mosaic_parity), has_red ? 0 : 1, has_green ? 0 : 1);
  if (!program.plan().affine) return;
  const AffineNumbers& affine = program.affine();
  constexpr GLsizei quads = 1 + group_count;
  glUniform4iv(location(at, Uniform::affine_whole), quads, affine.whole.data());
  glUniform4uiv(location(at, Uniform::affine_fraction), quads, affine.fraction.data());
  glUniform2fv(location(at, Uniform::affine_narrowing), group_count, affine.narrowing.data());
}

void set_origins(const Locations& at, const TexelOrigins& origins) {
  std::array<GLint, 8> sources{};
  for (std::size_t i = 0; i < 4; ++i) {
    sources[2 * i] = origins.sources[i].x;
    sources[2 * i + 1] = origins.sources[i].y;
  }
  glUniform2iv(location(at, Uniform::origins), 4, sources.data());
  glUniform2i(location(at, Uniform::target_origin), origins.target.x, origins.target.y);
}

}  // namespace

void set_uniforms(const Shader& shader, const GlProgram& program, const TexelOrigins& origins) {
  const Locations& at = shader.locations;
  set_origins(at, origins);
  const Plan& plan = program.plan();
  const Region& c = plan.content;
  glUniform4i(location(at, Uniform::content), c.x, c.y, c.width, c.height);
  glUniform2i(location(at, Uniform::size), plan.dst.size.width, plan.dst.size.height);
  set_vec4(location(at, Uniform::pad), plan.pad);
  glUniform4fv(location(at, Uniform::scale), 1, plan.values.scale.data());
  glUniform4fv(location(at, Uniform::bias), 1, plan.values.bias.data());
  set_colors(at, plan.color);
  set_samples(at, program);
  glUniform1f(location(at, Uniform::source_scale),
              static_cast<float>(255.0 / ((1 << plan.source_bits) - 1)));
}

}  // namespace halyard::image
