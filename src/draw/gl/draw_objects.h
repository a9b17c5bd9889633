// SPDX-License-Identifier: Apache-2.0
// DrawObjects: what the overlays and painters of this process keep in the context, and the draws
// that use it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "draw/draw_list.h"
#include "draw/gl/coverage_atlas.h"
#include "draw/gl/data_texture.h"
#include "draw/gl/draw_programs.h"
#include "draw/gl/plane_targets.h"
#include "draw/gl/shelf_packer.h"
#include "draw/mask/paint_job.h"

namespace halyard::draw {

/// One call that draws. Exactly one of `list` and `job` is set.
struct DrawRun {
  const image::GlImage* image = nullptr;
  PixelFormat format = PixelFormat::rgb;
  Size size = {};
  RowRange rows = {};  ///< that it touches; not empty
  const DrawList* list = nullptr;
  const PaintJob* job = nullptr;
  gl::DmaTarget binding = gl::DmaTarget::texture;
  bool computes_logits = false;  ///< by a compute shader, which the context has
  /// Set by an error after which the pixels are neither the old ones nor those that were asked for.
  bool is_half_drawn = false;
};

/// Shared by the process. All of it runs on the worker's thread, also the destructor. In the steady
/// state, when sizes and formats repeat, it makes no object and allocates no memory.
class DrawObjects {
 public:
  explicit DrawObjects(std::shared_ptr<gl::Worker> worker);
  DrawObjects(const DrawObjects&) = delete;
  DrawObjects& operator=(const DrawObjects&) = delete;

  bool belong_to(const gl::Worker& worker) const noexcept { return worker_.get() == &worker; }

  /// Draws, and waits until the GPU has drawn. After an error the pixels are the old ones, unless
  /// run.is_half_drawn. Errors: unsupported (the driver does not import a DMA-BUF, which it
  /// remembers), no_memory, device (a shader does not compile, the context is lost, an error of
  /// OpenGL).
  Status draw(DrawRun& run);

 private:
  Status check(const char* what);
  Status draw_and_finish(DrawRun& run);
  Status draw_shapes(const DrawRun& run);
  Status finish(DrawRun& run);
  void clear(const PaintJob& job);
  Status draw_list(const DrawRun& run);
  Status draw_masks(const DrawRun& run);
  Status draw_logits(const DrawRun& run);
  Status draw_bytes(const DrawRun& run);
  Status draw_classes(const DrawRun& run);
  /// Stores the commands in their texture.
  void upload_commands();
  /// Draws the commands on all planes.
  Status draw_commands(const DrawRun& run, ShapeKind shape);
  void upload_samples(const DrawRun& run);
  Status compute_logits(const DrawRun& run, const image::PlaneTexture& atlas);

  std::shared_ptr<gl::Worker> worker_;
  DrawPrograms programs_;
  PlaneTargets targets_;
  CoverageAtlas atlas_;
  DataTexture commands_texture_, shapes_texture_, table_texture_, prototypes_texture_,
      numbers_texture_;
  std::vector<DrawOp> commands_;
  std::vector<std::array<std::uint32_t, 2>> samples_;
};

}  // namespace halyard::draw
