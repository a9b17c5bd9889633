// SPDX-License-Identifier: Apache-2.0
// Draw: draws detections and tracks on images, in place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/image.h"
#include "halyard/palette.h"
#include "halyard/result.h"
#include "halyard/tensor.h"
#include "halyard/track.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Options of Overlay::create().
struct OverlayOptions {
  std::vector<std::string> labels = {};  ///< class names; a missing name is drawn as "class 7"
  ColorBy color_by = ColorBy::label;     ///< detections have no track: their index is used
  int line_px = 0;                       ///< box line width, 1..256; 0: from the image's size
  int text_px = 0;                       ///< font size (em), 6..512; 0: from the image's size
  bool show_score = true;
  std::size_t trail_length = 30;  ///< points of a track's trail, 0..10000; 0: no trail
  std::string font = {};          ///< path of a font file; empty: a packaged font is searched for
  /// What draws. automatic: a GPU on images that it reaches without a copy (DMA-BUFs and pixel
  /// buffers), else the CPU. opengl: OpenGL on images in any memory, and the CPU for what it
  /// refuses. cpu, g2d: the CPU. Unless automatic, HALYARD_FORCE_BACKEND and HALYARD_DISABLE_GL are
  /// ignored.
  ComputeBackend backend = ComputeBackend::automatic;
};

/// Draws boxes, filled tags with text, ids and trails on u8 images: rgb, bgr, rgba, bgra,
/// planar_rgb, planar_rgba, nv12 and grey, with any strides, including parts of images. Alpha
/// channels keep their values. Stores the trails of the tracks it has drawn. One overlay serves one
/// thread at a time.
///
/// A pixel p under an edge or a letter of colour c and weight a becomes
/// round((c a + p (255 - a)) / 255). nv12: c is the colour in the image's matrix and range
/// (resolve()); a chroma sample becomes the average of its four blended pixels, so that odd edges
/// of boxes are paler in chroma. grey: c is 0.299 R + 0.587 G + 0.114 B.
///
/// OpenGL does the same operations, each rounded once by the GPU: pixels are within 2 codes of the
/// CPU's; for the chroma of many translucent edges over one another see docs/masks.md. If it fails,
/// the CPU draws on the old pixels; after an error of the device it does so from then on. Only if
/// the old pixels cannot be put back, as after the loss of the GPU's context, the error is the
/// caller's to see.
class Overlay {
 public:
  /// Errors: not_found (no font: the message names the paths tried and the package to install),
  /// malformed or permission (the font file), invalid_argument (an option outside its range),
  /// unsupported (OpenGL is named by the options or by HALYARD_FORCE_BACKEND, and not available).
  static Result<Overlay> create(OverlayOptions options = {});
  Overlay(Overlay&&) noexcept;
  Overlay& operator=(Overlay&&) noexcept;
  ~Overlay();

  /// Draws detections, which must be sorted best first; the best is drawn on top. Boxes may lie
  /// partly or wholly outside the image; they are clipped. NaN, infinite, empty and inverted boxes
  /// are ignored. Tags stay inside the image. Labels are UTF-8; invalid bytes are drawn as U+FFFD.
  /// Errors: unsupported (format, dtype), invalid_argument (the image has an orientation, but boxes
  /// refer to upright images), those of mapping, device (see above).
  Status draw(Tensor& image, std::span<const Detection> detections);
  /// Draws tracks: visible ones solid, coasting ones thin and dashed, with the tag "label #id 87%".
  /// Extends the trails, and removes the trails of tracks that are not in `tracks`.
  Status draw(Tensor& image, std::span<const Track> tracks);

  /// Draws one line of text with its top left corner at (x, y), on a filled tag, clipped to the
  /// image. The tag's alpha is that of `background`.
  Status text(Tensor& image, int x, int y, std::string_view line, Color background);

  /// Draws closed lines through four points each, `line_px` wide, as outlines of rotated boxes, the
  /// last on top; without anti-aliasing. Quads with a point that is not finite are ignored. Errors:
  /// those of draw(), invalid_argument (not as many colours as quads, line_px outside 1..256).
  Status outlines(Tensor& image, std::span<const std::array<Point, 4>> quads,
                  std::span<const Color> colors, int line_px = 2);
  /// Draws squares of 5 px around points, as keypoints, the last on top. Points that are not finite
  /// are ignored. Errors: those of draw(), invalid_argument (not as many colours as points).
  Status points(Tensor& image, std::span<const Point> points, std::span<const Color> colors);

  /// What would draw on the image, and why OpenGL does not: one line for each. Errors: those of
  /// draw() before mapping.
  Result<std::string> explain(const Tensor& image) const;
  /// Calls that the CPU has drawn because OpenGL failed.
  std::uint64_t fallback_count() const noexcept;

 private:
  struct Impl;
  explicit Overlay(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
