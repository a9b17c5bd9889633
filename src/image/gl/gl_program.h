// SPDX-License-Identifier: Apache-2.0
// GlProgram: a plan compiled for OpenGL, without objects of the context.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "image/backend.h"
#include "image/gl/shader_text.h"
#include "image/gl/tap_table.h"

namespace halyard::image {

/// Immutable. Its id names it to the objects that a context keeps for it.
class GlProgram final : public BackendProgram {
 public:
  /// May throw std::bad_alloc.
  explicit GlProgram(const Plan& plan);

  const Plan& plan() const noexcept { return plan_; }
  const TapTable& taps() const noexcept { return taps_; }
  std::size_t source_planes() const noexcept { return source_planes_; }
  std::size_t target_planes() const noexcept { return target_planes_; }
  /// The fragment shader of a plane of the destination.
  const std::string& shader(std::size_t plane) const noexcept { return shaders_[plane]; }
  /// Unique in the process.
  std::uint64_t id() const noexcept { return id_; }

 private:
  Plan plan_;
  TapTable taps_;
  std::size_t source_planes_;
  std::size_t target_planes_;
  std::array<std::string, 4> shaders_;
  std::uint64_t id_;
};

}  // namespace halyard::image
