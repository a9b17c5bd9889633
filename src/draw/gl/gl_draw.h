// SPDX-License-Identifier: Apache-2.0
// GlDraw: draws on images by OpenGL, for one overlay or painter.
#pragma once

#include <memory>
#include <string>

#include "base/env.h"
#include "draw/draw_list.h"
#include "draw/mask/paint_job.h"
#include "gl/display/worker.h"
#include "image/gl/gl_image.h"

namespace halyard::draw {

class DrawObjects;
struct DrawRun;

/// One thread at a time.
class GlDraw {
 public:
  /// `is_automatic`: only for images that a GPU reaches without a copy; OpenGL is opened when the
  /// first one is seen. Else for images in any memory. Errors: invalid_argument
  /// (HALYARD_FORCE_TRANSFER is unknown), those of gl::Worker::shared().
  static Result<std::unique_ptr<GlDraw>> create(const Environment& env, bool is_automatic);

  /// Why it does not draw on the image; empty: it does. Lower case, one line.
  std::string refusal(const Tensor& image);
  bool serves(const Tensor& image) { return refusal_of(image) == nullptr; }
  /// Whether it also draws these. The CPU draws what it refuses.
  bool serves(const Tensor& image, const DrawList& list) const noexcept;
  bool serves(const Tensor& image, const PaintJob& job) const noexcept;
  /// How the pixels reach the GPU. Call after serves().
  std::string describe(const Tensor& image) const;

  /// Draws, and waits for the GPU. After an error the pixels are the old ones, but see
  /// is_half_drawn(). Errors: those of mapping, no_memory, device.
  Status draw(const Tensor& image, const DrawList& list);
  Status draw(const Tensor& image, const PaintJob& job);
  /// Whether the last error left pixels that are neither the old nor the new ones.
  bool is_half_drawn() const noexcept { return is_half_drawn_; }

 private:
  GlDraw(const Environment& env, const image::GlTransferRules& rules, bool is_automatic) noexcept;
  Status start();
  image::GlTransfer transfer_of(const Tensor& image) const noexcept;
  /// Starts OpenGL at the first call, and remembers its refusal.
  const char* start_once();
  const char* refusal_of(const Tensor& image);
  Status draw(const Tensor& image, DrawRun& run);
  Status run_on(const image::GlImage& image, DrawRun& run);

  image::GlTransferRules rules_;
  bool is_automatic_;
  bool allows_software_;
  bool binds_renderbuffers_;
  bool wants_compute_;
  bool is_half_drawn_ = false;
  std::shared_ptr<gl::Worker> worker_;
  std::shared_ptr<DrawObjects> objects_;  ///< used on the worker's thread only
  std::string start_refusal_;
};

/// Images drawn by OpenGL since the start of the process, by the way that their pixels took.
struct GlDrawStats {
  std::uint64_t dma_bufs = 0;
  std::uint64_t pixel_buffers = 0;
  std::uint64_t copies = 0;
  std::uint64_t computes = 0;  ///< of them with logits by compute shaders
};
/// Thread-safe.
GlDrawStats gl_draw_stats() noexcept;

}  // namespace halyard::draw
