// SPDX-License-Identifier: Apache-2.0
#include "image/gl/shaders.h"

#include <epoxy/gl.h>

#include <algorithm>

namespace halyard::image {
namespace {

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

Result<const Shader*> Shaders::find(const std::string& fragment_text) {
  ++now_;
  const auto known = known_.find(fragment_text);
  if (known != known_.end()) {
    known->second.used = now_;
    return &known->second.shader;
  }
  if (known_.size() >= max_kept) drop_oldest();
  Shader made;
  const std::string vertex_text = vertex_shader_text();
  HALYARD_TRY(made.name, maker_.make({.vertex = vertex_text, .fragment = fragment_text}));
  for (std::size_t i = 0; i < made.locations.size(); ++i)
    made.locations[i] = glGetUniformLocation(made.name, uniform_name(static_cast<Uniform>(i)));
  set_units(made);
  return &known_.emplace(fragment_text, Kept{made, now_}).first->second.shader;
}

}  // namespace halyard::image
