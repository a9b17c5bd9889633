// SPDX-License-Identifier: Apache-2.0
#include "gl/program/program_maker.h"

#include <epoxy/gl.h>

#include <array>
#include <atomic>
#include <string>
#include <utility>

#include "base/text/format_error.h"

namespace halyard::gl {
namespace {

std::atomic<std::uint64_t> compiled{0};

constexpr GLsizei max_log = 1024;

std::string log_of_shader(GLuint name) {
  std::array<char, max_log> text{};
  GLsizei length = 0;
  glGetShaderInfoLog(name, max_log, &length, text.data());
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string log_of_program(GLuint name) {
  std::array<char, max_log> text{};
  GLsizei length = 0;
  glGetProgramInfoLog(name, max_log, &length, text.data());
  return {text.data(), static_cast<std::size_t>(length)};
}

// Adds a compiled shader to the program.
Status add_stage(GLuint program, GLenum stage, std::string_view text) {
  const GLuint shader = glCreateShader(stage);
  const char* const source = text.data();
  const auto length = static_cast<GLint>(text.size());
  glShaderSource(shader, 1, &source, &length);
  glCompileShader(shader);
  GLint is_compiled = GL_FALSE;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &is_compiled);
  Status out;
  if (is_compiled == GL_TRUE) {
    glAttachShader(program, shader);
  } else {
    out = fail(Errc::device, "opengl: the driver does not compile a shader", "{}",
               log_of_shader(shader));
  }
  glDeleteShader(shader);  // once the program is gone
  return out;
}

Status link(GLuint program, const ProgramText& text, const ProgramCache& cache) {
  for (const auto& [stage, source] :
       {std::pair(GL_VERTEX_SHADER, text.vertex), std::pair(GL_FRAGMENT_SHADER, text.fragment),
        std::pair(GL_COMPUTE_SHADER, text.compute)}) {
    if (!source.empty())
      HALYARD_RETURN_IF_ERROR(add_stage(program, static_cast<GLenum>(stage), source));
  }
  cache.prepare(program);
  glLinkProgram(program);
  GLint is_linked = GL_FALSE;
  glGetProgramiv(program, GL_LINK_STATUS, &is_linked);
  if (is_linked == GL_TRUE) return {};
  return fail(Errc::device, "opengl: the driver does not link a shader", "{}",
              log_of_program(program));
}

}  // namespace

ProgramMaker::ProgramMaker(std::function<Status()> before)
    : environment_(read_environment()), before_(std::move(before)) {}

Result<std::uint32_t> ProgramMaker::make(const ProgramText& text) {
  if (before_) HALYARD_RETURN_IF_ERROR(before_());
  if (!cache_) cache_ = ProgramCache::create(environment_);
  const std::uint32_t kept = cache_->find(text);
  if (kept != 0) return kept;
  ++compiled;
  const GLuint program = glCreateProgram();
  const Status linked = link(program, text, *cache_);
  if (linked) {
    cache_->keep(program, text);
    return program;
  }
  glDeleteProgram(program);
  return linked.error();
}

std::uint64_t compiled_programs() noexcept {
  return compiled.load();
}

}  // namespace halyard::gl
