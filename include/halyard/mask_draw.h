// SPDX-License-Identifier: Apache-2.0
// Mask draw: blends instance masks and class maps onto images, without storing a mask first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/image.h"
#include "halyard/mask.h"
#include "halyard/palette.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

namespace draw {
struct PaintWorkspace;
}

struct MaskDrawOptions {
  /// In [0, 1]; it multiplies the palette's alpha. 0: masks are invisible.
  float opacity = 0.5F;
  ColorBy color_by = ColorBy::label;
  /// One for each detection; used if color_by is track.
  std::span<const std::uint64_t> track_ids = {};
  /// Index i has colour i modulo the size of the palette. Empty: palette_color(), opaque.
  std::span<const Color> palette = {};
  /// Detections of this label, or pixels of this class, are not drawn: for "background".
  std::optional<std::int32_t> ignored_label = {};
  /// Only for prototypes: the part of the network's input that the image shows, in pixels of the
  /// input: Placement::content(). Unset: the whole input.
  std::optional<RegionF> content = {};
  /// An image of the same size and format whose pixels are copied to the image before drawing;
  /// borrowed for the call. Null: masks are drawn on the image's own pixels.
  const Tensor* background = nullptr;
  /// Fill the image with black first: zeros, also in the alpha channel; for NV12 the black of its
  /// range.
  bool clear = false;
};

/// Draws masks on u8 images: rgb, bgr, rgba, bgra, planar_rgb, planar_rgba, nv12 and grey, with any
/// strides, including parts of images. Keeps its memory: a second frame of the same kind allocates
/// nothing. Move-only; one thread at a time.
///
/// A pixel where the mask is on becomes round((c a + p (255 - a)) / 255), with c the colour, p the
/// old value and a = round(opacity x alpha of the colour); the result is the same on every
/// processor. Alpha channels of images keep their values: a cleared rgba image stays transparent.
/// Detections must be sorted best first; they are drawn from the last to the first, so the best is
/// on top, as in Overlay.
///
/// NV12: c is the colour in the image's matrix and range (resolve()). Luma is blended per pixel. A
/// chroma sample becomes the average of the blended chroma of its four pixels, rounded once; at odd
/// borders the last column or row replaces the missing one. grey: c is 0.299 R + 0.587 G + 0.114 B.
///
/// OpenGL draws as in Overlay, within 2 codes of the CPU; prototypes go to the GPU as they are, and
/// a pixel may be on or off where its logit is within the error of floats of 0.
///
/// Errors of all calls, before anything is written: invalid_argument (opacity not in 0..1, not as
/// many track ids as detections, a background of another size or format or that shares bytes with
/// the image, background and clear together, an image that has an orientation), unsupported
/// (format, dtype; OpenGL is named and not available), those of mapping. Also device, as in
/// Overlay.
class MaskPainter {
 public:
  MaskPainter() noexcept;
  /// What draws, as OverlayOptions::backend.
  explicit MaskPainter(ComputeBackend backend) noexcept;
  MaskPainter(MaskPainter&&) noexcept;
  MaskPainter& operator=(MaskPainter&&) noexcept;
  ~MaskPainter();

  /// Draws masks directly from prototypes: logits are computed once per prototype pixel and sampled
  /// row by row. It draws the same pixels as materialize() with rule logits, the image's size and
  /// the same content. Boxes are in pixels of the network's input. Errors: also those of
  /// materialize().
  Status draw(Tensor& image, const MaskPrototypes& prototypes,
              std::span<const Detection> detections, const MaskDrawOptions& options = {});

  /// Draws existing masks, made for the image's size by any rule; a byte >= 128 is on. Detections
  /// give the labels. Errors: also invalid_argument (the set's frame is not the image's size, not
  /// as many masks as detections, content is set).
  Status draw(Tensor& image, const MaskSet& masks, std::span<const Detection> detections,
              const MaskDrawOptions& options = {});

  /// Draws a class map: a class id per pixel, u8 or u16, [H, W] or [H, W, 1] with the image's
  /// extent, as SemanticMapper gives it. The class selects the colour. Errors: also
  /// invalid_argument (extent, content is set, the map shares bytes with the image), unsupported
  /// (dtype, strides).
  Status draw(Tensor& image, const Tensor& class_map, const MaskDrawOptions& options = {});

  /// What would draw on the image, and why OpenGL does not: one line for each. Errors: those of
  /// draw() that concern the image alone.
  Result<std::string> explain(const Tensor& image);
  /// Calls that the CPU has drawn because OpenGL failed.
  std::uint64_t fallback_count() const noexcept;

 private:
  /// Makes the memory and the choice of what draws at the first call.
  Status prepare();

  ComputeBackend backend_ = ComputeBackend::automatic;
  std::unique_ptr<draw::PaintWorkspace> workspace_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
