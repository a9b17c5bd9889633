// SPDX-License-Identifier: Apache-2.0
// GlObjects: textures, targets and shaders that a backend keeps in the context for its next frames.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "halyard/result.h"
#include "halyard/tensor.h"
#include "image/gl/gl_program.h"
#include "image/gl/shaders.h"

namespace halyard::image {

/// Shared by all processors of the process. All of it runs on the worker's thread, also the
/// destructor. In the steady state, when programs and sizes repeat, it makes no object and
/// allocates no memory.
class GlObjects {
 public:
  GlObjects();
  GlObjects(const GlObjects&) = delete;
  GlObjects& operator=(const GlObjects&) = delete;
  ~GlObjects();

  /// Converts `src` into `dst`. Errors: no_memory, device (a shader does not compile, an error of
  /// OpenGL).
  Status run(const GlProgram& program, const TensorMap& src, const TensorMap& dst);

 private:
  /// A texture for one plane of images of one size: as a source, or as a target.
  struct Plane {
    std::size_t slot = 0;  ///< of the plane: 0..3 sources, 4..7 targets, 8..9 filtered rows
    std::uint32_t format = 0;
    Size size;
    std::uint32_t texture = 0;
    std::uint32_t framebuffer = 0;  ///< of what is drawn into
    std::uint64_t used = 0;         ///< when
  };
  struct Taps {
    std::uint64_t program = 0;
    std::uint32_t texture = 0;
    std::uint64_t used = 0;
  };

  std::uint32_t taps(const GlProgram& program);
  /// The result is valid until the end of the run.
  Plane& plane(std::size_t slot, std::uint32_t format, Size size);
  void upload(const GlProgram& program, const TensorMap& src);
  Status draw(const GlProgram& program, const std::string& text, std::uint32_t taps,
              const Plane& target);
  /// The first of two passes.
  Status filter_rows(const GlProgram& program, std::uint32_t taps);
  void read_back(const MappedPlane& plane, const Plane& target);

  Shaders shaders_;
  std::vector<Taps> taps_;
  std::vector<Plane> planes_;
  std::vector<std::byte> rows_;  ///< of a target whose rows do not fit the destination's
  std::uint64_t now_ = 0;        ///< counts runs
};

}  // namespace halyard::image
