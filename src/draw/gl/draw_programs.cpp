// SPDX-License-Identifier: Apache-2.0
#include "draw/gl/draw_programs.h"

#include <epoxy/gl.h>

#include <atomic>
#include <string>

#include "image/gl/shader/shader_text.h"

namespace halyard::draw {
namespace {

std::atomic<std::uint64_t> made{0};

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
  std::string vertex = command_vertex_text();
  std::string fragment;
  std::string compute;
  switch (key.stage) {
    case Stage::shape:
      fragment = shape_text(static_cast<ShapeKind>(key.first), static_cast<PlaneKind>(key.second));
      break;
    case Stage::logits:
      fragment = logit_text(element);
      break;
    case Stage::compute:
      vertex.clear();
      compute = logit_compute_text(element);
      break;
    case Stage::pack:
      vertex = image::vertex_shader_text();
      fragment = pack_text();
      break;
  }
  return maker_.make({.vertex = vertex, .fragment = fragment, .compute = compute});
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
