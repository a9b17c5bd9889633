// SPDX-License-Identifier: Apache-2.0
#include "draw/gl/draw_programs.h"

#include <epoxy/gl.h>

#include <atomic>
#include <span>
#include <string>

#include "base/text/format_error.h"
#include "image/gl/shader/shader_text.h"

namespace halyard::draw {
namespace {

std::atomic<std::uint64_t> made{0};

struct Part {
  GLenum kind = 0;
  std::string text;
};

std::string log_of_shader(GLuint name) {
  std::array<char, 1024> text{};
  GLsizei length = 0;
  glGetShaderInfoLog(name, static_cast<GLsizei>(text.size()), &length, text.data());
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string log_of_program(GLuint name) {
  std::array<char, 1024> text{};
  GLsizei length = 0;
  glGetProgramInfoLog(name, static_cast<GLsizei>(text.size()), &length, text.data());
  return {text.data(), static_cast<std::size_t>(length)};
}

// Adds a compiled shader to the program.
Status add_part(GLuint program, const Part& part) {
  const GLuint shader = glCreateShader(part.kind);
  const char* const source = part.text.c_str();
  glShaderSource(shader, 1, &source, nullptr);
  glCompileShader(shader);
  GLint is_compiled = GL_FALSE;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &is_compiled);
  Status out;
  if (is_compiled == GL_TRUE) {
    glAttachShader(program, shader);
  } else {
    out = fail(Errc::device, "opengl: the driver does not compile a shader that draws", "{}",
               log_of_shader(shader));
  }
  glDeleteShader(shader);  // once the program is gone
  return out;
}

Result<GLuint> link_parts(std::span<const Part> parts) {
  const GLuint program = glCreateProgram();
  Status status;
  for (const Part& part : parts)
    if (status) status = add_part(program, part);
  if (status) {
    glLinkProgram(program);
    GLint is_linked = GL_FALSE;
    glGetProgramiv(program, GL_LINK_STATUS, &is_linked);
    if (is_linked == GL_TRUE) return program;
    status = fail(Errc::device, "opengl: the driver does not link a shader that draws", "{}",
                  log_of_program(program));
  }
  glDeleteProgram(program);
  return status.error();
}

}  // namespace

void activate(DrawUnit unit) {
  glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
}

DrawPrograms::~DrawPrograms() {
  for (const auto& [key, program] : known_)
    glDeleteProgram(program.name);
}

Result<std::uint32_t> DrawPrograms::make(const Key& key) {
  const auto element = static_cast<ElementKind>(key.first);
  Part parts[2] = {{GL_VERTEX_SHADER, command_vertex_text()}, {GL_FRAGMENT_SHADER, {}}};
  switch (key.stage) {
    case Stage::shape:
      parts[1].text =
          shape_text(static_cast<ShapeKind>(key.first), static_cast<PlaneKind>(key.second));
      break;
    case Stage::logits:
      parts[1].text = logit_text(element);
      break;
    case Stage::compute:
      parts[0] = {GL_COMPUTE_SHADER, logit_compute_text(element)};
      return link_parts({parts, 1});
    case Stage::pack:
      parts[0].text = image::vertex_shader_text();
      parts[1].text = pack_text();
      break;
  }
  return link_parts(parts);
}

Result<const DrawProgram*> DrawPrograms::find(const Key& key) {
  const auto known = known_.find(key);
  if (known != known_.end()) return &known->second;
  DrawProgram out;
  ++made;
  HALYARD_TRY(out.name, make(key));
  for (std::size_t i = 0; i < out.locations.size(); ++i)
    out.locations[i] =
        glGetUniformLocation(out.name, draw_uniform_name(static_cast<DrawUniform>(i)));
  glUseProgram(out.name);
  for (std::size_t unit = 0; unit < static_cast<std::size_t>(DrawUnit::spare); ++unit)
    glUniform1i(out.locations[unit], static_cast<GLint>(unit));
  return &known_.emplace(key, out).first->second;
}

Result<const DrawProgram*> DrawPrograms::shape(ShapeKind shape, PlaneKind plane) {
  return find({Stage::shape, static_cast<std::uint8_t>(shape), static_cast<std::uint8_t>(plane)});
}

Result<const DrawProgram*> DrawPrograms::logits(ElementKind kind, bool as_compute) {
  return find({as_compute ? Stage::compute : Stage::logits, static_cast<std::uint8_t>(kind), 0});
}

Result<const DrawProgram*> DrawPrograms::pack() {
  return find({Stage::pack, 0, 0});
}

std::uint64_t made_draw_programs() noexcept {
  return made.load();
}

}  // namespace halyard::draw
