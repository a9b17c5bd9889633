// SPDX-License-Identifier: Apache-2.0
#include "image/gl/gl_objects.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <cstring>

#include "base/text/format_error.h"

namespace halyard::image {
namespace {

constexpr std::size_t max_kept_taps = 32;
constexpr std::size_t max_kept_planes = 32;  // at least those of one run, 8
constexpr std::size_t first_target = 4;
constexpr std::array<GLenum, 5> upload_formats = {0, GL_RED, GL_RG, GL_RGB, GL_RGBA};
constexpr std::array<GLenum, 5> sized_formats = {0, GL_R8, GL_RG8, GL_RGB8, GL_RGBA8};
constexpr GLint taps_unit = 4;

std::string log_of(GLuint name, bool is_program) {
  std::array<char, 1024> text{};
  GLsizei length = 0;
  if (is_program) {
    glGetProgramInfoLog(name, static_cast<GLsizei>(text.size()), &length, text.data());
  } else {
    glGetShaderInfoLog(name, static_cast<GLsizei>(text.size()), &length, text.data());
  }
  return {text.data(), static_cast<std::size_t>(length)};
}

Result<GLuint> compile(GLenum kind, const std::string& text) {
  const GLuint shader = glCreateShader(kind);
  const char* const source = text.c_str();
  glShaderSource(shader, 1, &source, nullptr);
  glCompileShader(shader);
  GLint is_compiled = GL_FALSE;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &is_compiled);
  if (is_compiled == GL_TRUE) return shader;
  auto error = fail(Errc::device, "opengl: the driver does not compile a shader", "{}",
                    log_of(shader, false));
  glDeleteShader(shader);
  return error;
}

Result<GLuint> link(const std::string& fragment_text) {
  HALYARD_TRY(const GLuint vertex, compile(GL_VERTEX_SHADER, vertex_shader_text()));
  const auto fragment = compile(GL_FRAGMENT_SHADER, fragment_text);
  if (!fragment) {
    glDeleteShader(vertex);
    return fragment.error();
  }
  const GLuint program = glCreateProgram();
  for (const GLuint shader : {vertex, *fragment}) {
    glAttachShader(program, shader);
    glDeleteShader(shader);  // once the program is gone
  }
  glLinkProgram(program);
  GLint is_linked = GL_FALSE;
  glGetProgramiv(program, GL_LINK_STATUS, &is_linked);
  if (is_linked == GL_TRUE) return program;
  auto error =
      fail(Errc::device, "opengl: the driver does not link a shader", "{}", log_of(program, true));
  glDeleteProgram(program);
  return error;
}

// The largest alignment of rows with which OpenGL steps by exactly `stride` bytes from row to row
// of `texel` bytes; 0 if there is none.
GLint row_alignment(std::size_t stride, std::size_t texel) noexcept {
  const std::size_t whole = stride / texel * texel;
  for (const std::size_t alignment :
       {std::size_t{8}, std::size_t{4}, std::size_t{2}, std::size_t{1}})
    if ((whole + alignment - 1) / alignment * alignment == stride)
      return static_cast<GLint>(alignment);
  return 0;
}

void upload_plane(const MappedPlane& plane, std::size_t texel, GLsizei width) {
  const GLenum format = upload_formats[texel];
  const GLint alignment = row_alignment(plane.stride_bytes, texel);
  const auto rows = static_cast<GLsizei>(plane.rows);
  if (alignment != 0) {
    glPixelStorei(GL_UNPACK_ALIGNMENT, alignment);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, static_cast<GLint>(plane.stride_bytes / texel));
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, rows, format, GL_UNSIGNED_BYTE, plane.data);
    return;
  }
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  for (GLsizei y = 0; y < rows; ++y)
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, y, width, 1, format, GL_UNSIGNED_BYTE,
                    plane.data + static_cast<std::size_t>(y) * plane.stride_bytes);
}

void set_vec4(GLint at, std::span<const double, 4> v) {
  glUniform4f(at, static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2]),
              static_cast<float>(v[3]));
}

using Places = std::array<std::int32_t, static_cast<std::size_t>(Uniform::count)>;

// Uniforms that a shader does not use are at -1, where OpenGL ignores them.
GLint place_of_uniform(const Places& at, Uniform uniform) {
  return at[static_cast<std::size_t>(uniform)];
}

void set_colors(const Places& at, const ColorStep& color) {
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
  glUniform4fv(place_of_uniform(at, Uniform::yuv_in), 2, yuv_in.data());
  glUniform4fv(place_of_uniform(at, Uniform::yuv_out), 2, yuv_out.data());
  if (place_of_uniform(at, Uniform::yuv_yuv) < 0) return;
  const YuvToYuv m = yuv_to_yuv(in, out);
  std::array<float, 15> both{};
  for (std::size_t i = 0; i < 3; ++i) {
    both[i] = number(m.offset[i]);
    for (std::size_t c = 0; c < 3; ++c)
      both[3 + 3 * c + i] = number(m.weight[c][i]);
    both[12 + i] = number(m.bias[i]);
  }
  glUniform3fv(place_of_uniform(at, Uniform::yuv_yuv), 5, both.data());
}

void set_uniforms(const Places& at, const GlProgram& program) {
  const Plan& plan = program.plan();
  const Region& c = plan.content;
  glUniform4i(place_of_uniform(at, Uniform::content), c.x, c.y, c.width, c.height);
  glUniform2i(place_of_uniform(at, Uniform::size), plan.dst.size.width, plan.dst.size.height);
  set_vec4(place_of_uniform(at, Uniform::pad), plan.pad);
  glUniform4fv(place_of_uniform(at, Uniform::scale), 1, plan.values.scale.data());
  glUniform4fv(place_of_uniform(at, Uniform::bias), 1, plan.values.bias.data());
  set_colors(at, plan.color);
  const TapTable& taps = program.taps();
  std::array<GLint, 8> rows{};
  for (std::size_t group = 0; group < 2; ++group) {
    rows[4 * group] = taps.x[group].row;
    rows[4 * group + 1] = taps.x[group].count;
    rows[4 * group + 2] = taps.y[group].row;
    rows[4 * group + 3] = taps.y[group].count;
  }
  glUniform4iv(place_of_uniform(at, Uniform::tap_rows), 2, rows.data());
  glUniform1f(place_of_uniform(at, Uniform::source_scale),
              static_cast<float>(255.0 / ((1 << plan.source_bits) - 1)));
}

// The texture units of a shader's samplers, which never change.
void set_units(GLuint program, const Places& at) {
  glUseProgram(program);
  glUniform1i(place_of_uniform(at, Uniform::taps), taps_unit);
  for (GLint i = 0; i < 4; ++i)
    glUniform1i(at[static_cast<std::size_t>(Uniform::plane0) + static_cast<std::size_t>(i)], i);
}

Status check_errors(const char* what) {
  Status out;
  for (GLenum error; (error = glGetError()) != GL_NO_ERROR;) {
    const Errc code = error == GL_OUT_OF_MEMORY ? Errc::no_memory : Errc::device;
    if (out) out = fail(code, what, "error {:#x}", error);
  }
  return out;
}

// A texture of its own that is bound, without filtering.
GLuint make_texture(GLenum format, Size size) {
  GLuint name = 0;
  glGenTextures(1, &name);
  glBindTexture(GL_TEXTURE_2D, name);
  glTexStorage2D(GL_TEXTURE_2D, 1, format, size.width, size.height);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  return name;
}

}  // namespace

GlObjects::GlObjects() {
  planes_.reserve(max_kept_planes);
}

GlObjects::~GlObjects() {
  for (const auto& [text, shader] : shaders_)
    glDeleteProgram(shader.name);
  for (const Taps& taps : taps_)
    glDeleteTextures(1, &taps.texture);
  for (const Plane& plane : planes_) {
    glDeleteFramebuffers(1, &plane.framebuffer);
    glDeleteTextures(1, &plane.texture);
  }
}

// Finds or makes it, and leaves its texture bound.
GlObjects::Plane& GlObjects::plane(std::size_t slot, std::uint32_t format, Size size) {
  for (Plane& known : planes_) {
    if (known.slot != slot || known.format != format || known.size != size) continue;
    known.used = now_;
    glBindTexture(GL_TEXTURE_2D, known.texture);
    return known;
  }
  if (planes_.size() < max_kept_planes) planes_.emplace_back();
  Plane& place = *std::ranges::min_element(planes_, {}, &Plane::used);
  glDeleteFramebuffers(1, &place.framebuffer);
  glDeleteTextures(1, &place.texture);
  place = {slot, format, size, make_texture(format, size), 0, now_};
  if (slot < first_target) return place;
  glGenFramebuffers(1, &place.framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, place.framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, place.texture, 0);
  return place;
}

Result<const GlObjects::Shader*> GlObjects::shader(const std::string& text) {
  const auto known = shaders_.find(text);
  if (known != shaders_.end()) return &known->second;
  Shader made;
  HALYARD_TRY(made.name, link(text));
  for (std::size_t i = 0; i < made.at.size(); ++i)
    made.at[i] = glGetUniformLocation(made.name, uniform_name(static_cast<Uniform>(i)));
  set_units(made.name, made.at);
  return &shaders_.emplace(text, made).first->second;
}

std::uint32_t GlObjects::taps(const GlProgram& program) {
  for (Taps& known : taps_) {
    if (known.program != program.id()) continue;
    known.used = now_;
    return known.texture;
  }
  if (taps_.size() < max_kept_taps) taps_.emplace_back();
  Taps& place = *std::ranges::min_element(taps_, {}, &Taps::used);
  glDeleteTextures(1, &place.texture);
  const TapTable& table = program.taps();
  place = {program.id(), make_texture(GL_R32F, {table.width, table.rows}), now_};
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, table.width, table.rows, GL_RED, GL_FLOAT,
                  table.values.data());
  return place.texture;
}

void GlObjects::upload(const GlProgram& program, const TensorMap& src) {
  for (std::size_t i = 0; i < program.source_planes(); ++i) {
    const MappedPlane& mapped = src.plane(i);
    const std::size_t texel = texel_bytes(program.plan().src, i);
    const Size size{static_cast<std::int32_t>(mapped.row_bytes / texel),
                    static_cast<std::int32_t>(mapped.rows)};
    glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(i));
    plane(i, sized_formats[texel], size);
    upload_plane(mapped, texel, size.width);
  }
}

Status GlObjects::draw(const GlProgram& program, std::size_t index, std::uint32_t taps,
                       const Plane& target) {
  HALYARD_TRY(const Shader* const shader, this->shader(program.shader(index)));
  glActiveTexture(GL_TEXTURE0 + taps_unit);
  glBindTexture(GL_TEXTURE_2D, taps);
  glBindFramebuffer(GL_FRAMEBUFFER, target.framebuffer);
  glDisable(GL_DITHER);
  glViewport(0, 0, target.size.width, target.size.height);
  glUseProgram(shader->name);
  set_uniforms(shader->at, program);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  return {};
}

void GlObjects::read_back(const MappedPlane& plane, const Plane& target) {
  const Size size = target.size;
  glBindFramebuffer(GL_FRAMEBUFFER, target.framebuffer);
  const auto row_bytes = static_cast<std::size_t>(size.width) * 4;
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  const bool is_direct = plane.row_bytes == row_bytes && plane.stride_bytes % 4 == 0;
  glPixelStorei(GL_PACK_ROW_LENGTH, is_direct ? static_cast<GLint>(plane.stride_bytes / 4) : 0);
  if (!is_direct) rows_.resize(row_bytes * plane.rows);
  glReadPixels(0, 0, size.width, size.height, GL_RGBA, GL_UNSIGNED_BYTE,
               is_direct ? plane.writable : rows_.data());
  if (is_direct) return;
  for (std::size_t y = 0; y < plane.rows; ++y)
    std::memcpy(plane.writable + y * plane.stride_bytes, rows_.data() + y * row_bytes,
                plane.row_bytes);
}

Status GlObjects::run(const GlProgram& program, const TensorMap& src, const TensorMap& dst) {
  static_cast<void>(check_errors(""));
  ++now_;
  upload(program, src);
  glActiveTexture(GL_TEXTURE0 + taps_unit);
  const std::uint32_t taps = this->taps(program);
  std::array<const Plane*, 4> targets{};
  for (std::size_t i = 0; i < program.target_planes(); ++i) {
    const MappedPlane& mapped = dst.plane(i);
    const Size size{static_cast<std::int32_t>((mapped.row_bytes + 3) / 4),
                    static_cast<std::int32_t>(mapped.rows)};
    targets[i] = &plane(first_target + i, GL_RGBA8, size);
    HALYARD_RETURN_IF_ERROR(draw(program, i, taps, *targets[i]));
  }
  HALYARD_RETURN_IF_ERROR(check_errors("opengl: a conversion failed"));
  for (std::size_t i = 0; i < program.target_planes(); ++i)
    read_back(dst.plane(i), *targets[i]);
  return check_errors("opengl: a result cannot be read");
}

}  // namespace halyard::image
