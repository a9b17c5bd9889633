// SPDX-License-Identifier: Apache-2.0
// DrawEngine: the choice between OpenGL and the CPU, for one overlay or painter.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/local.h"
#include "draw/draw_list.h"
#include "draw/mask/paint_job.h"
#include "halyard/image.h"
#include "halyard/moved.h"

namespace halyard::draw {

class GlDraw;

/// Move-only. One thread at a time.
class HALYARD_LOCAL DrawEngine {
 public:
  /// Follows `wanted`; if that is automatic, HALYARD_FORCE_BACKEND and HALYARD_DISABLE_GL. Where
  /// G2D is named, the CPU draws. Errors: unsupported (OpenGL is named and not available, or
  /// HALYARD_FORCE_BACKEND names no backend).
  static Result<DrawEngine> create(ComputeBackend wanted);
  DrawEngine(DrawEngine&&) noexcept = default;
  DrawEngine& operator=(DrawEngine&&) noexcept = default;

  /// Whether OpenGL draws on the image; the CPU does so otherwise. Errors: unsupported
  /// (HALYARD_FORCE_BACKEND names OpenGL, which does not draw on it).
  Result<bool> uses_gl(const Tensor& image);
  /// Draws by OpenGL after uses_gl(). True: done, or `status` is an error that the caller of the
  /// library is to see. False: the pixels are the old ones, and the CPU is to draw.
  bool draw(const Tensor& image, const DrawList& list, Status& status);
  bool draw(const Tensor& image, const PaintJob& job, Status& status);

  /// "opengl: ..." and "cpu: ...", one line for each that was asked.
  std::string explain(const Tensor& image);
  /// Calls that the CPU has drawn because OpenGL failed.
  std::uint64_t fallback_count() const noexcept { return fallbacks_; }

 private:
  DrawEngine() noexcept = default;
  template <class What>
  bool draw_by_gl(const Tensor& image, const What& what, Status& status);
  bool give_up(const Error& error);

  std::shared_ptr<GlDraw> gl_;
  std::string absent_;  ///< why there is no OpenGL
  Moved<bool> is_forced_;
  Moved<std::uint64_t> fallbacks_;
};

/// Calls `draw` with a canvas of the image: once, or again after OpenGL has failed. `list` is
/// memory. Errors: those of Canvas::check(), DrawEngine and mapping.
template <class Draw>
Status paint(DrawEngine& engine, DrawList& list, const Tensor& image, const Draw& draw) {
  HALYARD_RETURN_IF_ERROR(Canvas::check(image));
  HALYARD_TRY(const bool uses_gl, engine.uses_gl(image));
  if (uses_gl) {
    list.clear();
    draw(Canvas(image, list));
    Status status;
    const bool is_done = engine.draw(image, list, status);
    list.clear();
    if (is_done) return status;
  }
  HALYARD_TRY(const TensorMap map, image.map(Access::read_write));
  draw(Canvas(image, map));
  return {};
}

}  // namespace halyard::draw
