// SPDX-License-Identifier: Apache-2.0
// GlObjects: what the processors of this process keep in the context for their next frames, and the
// draws that use it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gl/display/worker.h"
#include "gl/memory/dma_image.h"
#include "halyard/result.h"
#include "image/gl/gl_image.h"
#include "image/gl/gl_program.h"
#include "image/gl/plane_textures.h"
#include "image/gl/shaders.h"
#include "image/gl/staging.h"
#include "image/gl/uniforms.h"

namespace halyard::image {

/// A job with its prepared images.
struct GlRun {
  const GlProgram* program = nullptr;
  GlImage src;
  GlImage dst;
  std::array<std::uint32_t, 4> staged{};  ///< buffer objects that hold planes of the result
  Job job = {};
  // What it has cost.
  std::size_t passes = 0;
  std::size_t uploads = 0;     ///< planes
  std::size_t read_backs = 0;  ///< planes

  bool has_dma_buf() const noexcept;
  /// Adds a fence of the run to its DMA-BUFs, so that other users of them wait, if the kernel can.
  void share_fence(int sync_file) const;
};

/// How a processor wants its runs done.
struct GlRunOptions {
  GlTransferRules rules;
  gl::DmaTarget target = gl::DmaTarget::texture;
};

/// Images since the start of the process, by the way that they took, of both sides.
struct GlStats {
  std::uint64_t dma_bufs = 0;
  std::uint64_t pixel_buffers = 0;
  std::uint64_t copies = 0;
  std::uint64_t shaders = 0;  ///< compiled
};
/// Thread-safe.
GlStats gl_stats() noexcept;

/// Shared by all processors of the process. All of it runs on the worker's thread, also the
/// destructor. In the steady state, when programs and sizes repeat, it makes no object and
/// allocates no memory.
class GlObjects {
 public:
  explicit GlObjects(std::shared_ptr<gl::Worker> worker);
  GlObjects(const GlObjects&) = delete;
  GlObjects& operator=(const GlObjects&) = delete;
  ~GlObjects();

  bool belong_to(const gl::Worker& worker) const noexcept { return worker_.get() == &worker; }

  /// Brings the source to the GPU and draws. The GPU may still be busy afterwards. Errors:
  /// unsupported (the driver does not import a DMA-BUF, which it remembers), no_memory, device (a
  /// shader does not compile, the context is lost, an error of OpenGL).
  Status draw(GlRun& run, const GlRunOptions& options);
  /// After draw(): copies the result where the CPU must. Errors: device.
  Status complete(GlRun& run);
  /// After the runs: lets the GPU begin, and if `waits`, waits until it needs none of their images.
  /// Errors: device.
  Status finish(bool waits);

 private:
  struct Taps {
    std::uint64_t program = 0;
    std::uint32_t texture = 0;
    std::uint64_t used = 0;
  };
  /// Where planes or filtered rows are drawn.
  struct Target {
    std::uint32_t framebuffer = 0;
    TexelOrigin origin;
    Size size;
    std::uint32_t texture = 0;  ///< of this plane alone; none of imports
  };
  using Targets = std::array<Target, 4>;  ///< of the planes

  /// The errors of OpenGL since the last check.
  Status check(const char* what);
  Status draw_all(GlRun& run, const GlRunOptions& options);
  std::uint32_t taps(const GlProgram& program);
  bool stages(const GlRunOptions& options) const noexcept;
  /// Makes the source plane the texture of its unit.
  Result<TexelOrigin> bind_source(GlRun& run, std::size_t index, const GlRunOptions& options);
  void upload(const MappedPlane& plane, std::size_t texel_bytes, bool is_staged);
  Result<Target> target(const GlRun& run, std::size_t index, const GlRunOptions& options);
  /// The first of two passes.
  Status filter_rows(const GlProgram& program, std::uint32_t taps, TexelOrigins& origins);
  /// One framebuffer over the textures of several planes.
  Target join(PlaneRange planes, const Targets& targets);
  Status draw_target(const GlProgram& program, const std::string& text, std::uint32_t taps,
                     const Target& target, TexelOrigins& origins);
  void read_back(GlRun& run, std::size_t index, const Target& target, bool is_staged);
  void read_pixels(const MappedPlane& plane, Size size);
  Status copy_staged(std::uint32_t name, const MappedPlane& plane);

  std::shared_ptr<gl::Worker> worker_;
  Shaders shaders_;
  PlaneTextures textures_;
  Staging staging_;
  std::vector<Taps> taps_;
  std::uint32_t joint_framebuffer_ = 0;
  std::vector<std::byte> rows_;  ///< of a target whose rows do not fit the destination's
  std::uint64_t now_ = 0;        ///< counts runs
};

}  // namespace halyard::image
