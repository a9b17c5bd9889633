// SPDX-License-Identifier: Apache-2.0
#include "gl/program/program_cache.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <atomic>
#include <cctype>

#include "base/text/format_error.h"
#include "base/text/log_format.h"
#include "gl/display/capabilities.h"
#include "gl/display/errors.h"
#include "halyard/version.h"

namespace halyard::gl {
namespace {

std::atomic<std::uint64_t> found_programs{0};

std::string gl_string(GLenum name) {
  const auto* const text = reinterpret_cast<const char*>(glGetString(name));
  return text == nullptr ? std::string() : text;
}

bool is_off(std::string word) {
  std::ranges::transform(word, word.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word == "off" || word == "0" || word == "false";
}

std::vector<GLint> binary_formats() {
  GLint count = 0;
  glGetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &count);
  std::vector<GLint> out(static_cast<std::size_t>(std::max(count, 0)));
  if (!out.empty()) glGetIntegerv(GL_PROGRAM_BINARY_FORMATS, out.data());
  return out;
}

}  // namespace

Result<std::string> shader_cache_folder(const Environment& env) {
  if (env.shader_cache && is_off(*env.shader_cache))
    return fail(Errc::unsupported, "shader cache: switched off by HALYARD_SHADER_CACHE");
  if (env.shader_cache && env.shader_cache->front() == '/') return *env.shader_cache;
  if (env.shader_cache) {
    return fail(Errc::unsupported, "HALYARD_SHADER_CACHE: must be off or an absolute path",
                "it is {}", *env.shader_cache);
  }
  if (env.cache_home) return *env.cache_home + "/halyard/shaders";
  return fail(Errc::unsupported, "shader cache: neither XDG_CACHE_HOME nor HOME names a folder");
}

ProgramCache ProgramCache::create(const Environment& env) {
  ProgramCache out;
  const auto open = [&]() -> Result<BinaryFiles> {
    HALYARD_TRY(const std::string folder, shader_cache_folder(env));
    return BinaryFiles::open(folder);
  };
  if (!offers_program_binaries()) {
    HALYARD_LOG(LogLevel::debug, "gl", "shader cache: the driver has no binaries of programs");
    return out;
  }
  auto files = open();
  if (!files) {
    const bool is_asked_for = env.shader_cache && !is_off(*env.shader_cache);
    HALYARD_LOG(is_asked_for ? LogLevel::warn : LogLevel::debug, "gl", "{}",
                files.error().message());
    return out;
  }
  out.files_ = std::move(*files);
  out.formats_ = binary_formats();
  out.driver_ = fmt::format("{}\n{}\n{}\n{}\n", version(), gl_string(GL_VENDOR),
                            gl_string(GL_RENDERER), gl_string(GL_VERSION));
  return out;
}

std::string ProgramCache::key_of(const ProgramText& text) const {
  return fmt::format("{}{} {} {}\n{}{}{}", driver_, text.vertex.size(), text.fragment.size(),
                     text.compute.size(), text.vertex, text.fragment, text.compute);
}

std::uint32_t ProgramCache::find(const ProgramText& text) {
  if (!files_) return 0;
  const auto binary = files_->find(key_of(text));
  const auto has_format = [&](GLint format) {
    return static_cast<std::uint32_t>(format) == binary->format;
  };
  if (!binary || std::ranges::none_of(formats_, has_format)) return 0;
  const GLuint program = glCreateProgram();
  glProgramBinary(program, binary->format, binary->bytes.data(),
                  static_cast<GLsizei>(binary->bytes.size()));
  GLint is_linked = GL_FALSE;
  glGetProgramiv(program, GL_LINK_STATUS, &is_linked);
  if (is_linked == GL_TRUE) {
    ++found_programs;
    return program;
  }
  glDeleteProgram(program);
  drop_errors();  // a refused binary is no error of the draw that asks for the program
  HALYARD_LOG(LogLevel::debug, "gl", "shader cache: the driver refuses a program that was kept");
  return 0;
}

void ProgramCache::prepare(std::uint32_t program) const {
  if (files_) glProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
}

void ProgramCache::keep(std::uint32_t program, const ProgramText& text) {
  if (!files_ || !is_written_) return;
  GLint size = 0;
  glGetProgramiv(program, GL_PROGRAM_BINARY_LENGTH, &size);
  if (size <= 0) return;
  ProgramBinary binary{0, std::vector<std::byte>(static_cast<std::size_t>(size))};
  GLsizei length = 0;
  GLenum format = 0;
  glGetProgramBinary(program, size, &length, &format, binary.bytes.data());
  if (length <= 0 || length > size) return drop_errors();
  binary.format = format;
  binary.bytes.resize(static_cast<std::size_t>(length));
  const Status kept = files_->keep(key_of(text), binary);
  if (kept) return;
  is_written_ = kept.error().code == Errc::exhausted;
  HALYARD_LOG(LogLevel::debug, "gl", "{}", kept.error().message());
}

std::uint64_t cached_programs() noexcept {
  return found_programs.load();
}

}  // namespace halyard::gl
