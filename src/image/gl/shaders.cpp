// SPDX-License-Identifier: Apache-2.0
#include "image/gl/shaders.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <atomic>

#include "base/text/format_error.h"

namespace halyard::image {
namespace {

std::atomic<std::uint64_t> compiled{0};

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

Result<GLuint> link(const std::string& vertex_text, const std::string& fragment_text,
                    const gl::ProgramCache& cache) {
  HALYARD_TRY(const GLuint vertex, compile(GL_VERTEX_SHADER, vertex_text));
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
  cache.prepare(program);
  glLinkProgram(program);
  GLint is_linked = GL_FALSE;
  glGetProgramiv(program, GL_LINK_STATUS, &is_linked);
  if (is_linked == GL_TRUE) return program;
  auto error =
      fail(Errc::device, "opengl: the driver does not link a shader", "{}", log_of(program, true));
  glDeleteProgram(program);
  return error;
}

// The texture units of a shader's samplers, which never change.
void set_units(const Shader& shader) {
  glUseProgram(shader.name);
  const auto location = [&](Uniform sampler) {
    return shader.locations[static_cast<std::size_t>(sampler)];
  };
  glUniform1i(location(Uniform::taps), taps_unit);
  glUniform1i(location(Uniform::filtered0), filtered_unit);
  glUniform1i(location(Uniform::filtered1), filtered_unit + 1);
  for (GLint i = 0; i < 4; ++i)
    glUniform1i(
        shader.locations[static_cast<std::size_t>(Uniform::plane0) + static_cast<std::size_t>(i)],
        i);
}

}  // namespace

Shaders::Shaders() : environment_(read_environment()) {}

Shaders::~Shaders() {
  for (const auto& [text, kept] : known_)
    glDeleteProgram(kept.shader.name);
}

void Shaders::drop_oldest() {
  const auto oldest =
      std::ranges::min_element(known_, {}, [](const auto& entry) { return entry.second.used; });
  glDeleteProgram(oldest->second.shader.name);
  known_.erase(oldest);
}

Result<std::uint32_t> Shaders::make(const std::string& fragment_text) {
  if (!cache_) cache_ = gl::ProgramCache::create(environment_);
  const std::string vertex_text = vertex_shader_text();
  const gl::ProgramText text{vertex_text, fragment_text};
  const std::uint32_t kept = cache_->find(text);
  if (kept != 0) return kept;
  ++compiled;
  HALYARD_TRY(const std::uint32_t program, link(vertex_text, fragment_text, *cache_));
  cache_->keep(program, text);
  return program;
}

Result<const Shader*> Shaders::find(const std::string& fragment_text) {
  ++now_;
  const auto known = known_.find(fragment_text);
  if (known != known_.end()) {
    known->second.used = now_;
    return &known->second.shader;
  }
  if (known_.size() >= max_kept) drop_oldest();
  Shader made;
  HALYARD_TRY(made.name, make(fragment_text));
  for (std::size_t i = 0; i < made.locations.size(); ++i)
    made.locations[i] = glGetUniformLocation(made.name, uniform_name(static_cast<Uniform>(i)));
  set_units(made);
  return &known_.emplace(fragment_text, Kept{made, now_}).first->second.shader;
}

std::uint64_t compiled_shaders() noexcept {
  return compiled.load();
}

}  // namespace halyard::image
