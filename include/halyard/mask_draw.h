// SPDX-License-Identifier: Apache-2.0
// Mask draw: instance masks and class maps blended onto images, without a mask in memory first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/mask.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

namespace draw {
struct PaintWorkspace;
}

/// R, G, B, A, 0..255; A 255 hides what lies below.
using MaskColor = std::array<std::uint8_t, 4>;

/// What a mask's colour stands for: its class, its place in the list, or its track.
enum class MaskColorBy : std::uint8_t { label = 0, instance = 1, track = 2 };

struct MaskDrawOptions {
  /// 0: nothing is seen; 1: as opaque as the palette says.
  float opacity = 0.5F;
  MaskColorBy color_by = MaskColorBy::label;
  /// One for each detection; looked at where track ids choose the colour.
  std::span<const std::uint64_t> track_ids = {};
  /// Colour i modulo its size. Empty: palette_color(), opaque.
  std::span<const MaskColor> palette = {};
  /// Detections of this label, or pixels of this class, are left out: "background".
  std::optional<std::int32_t> ignored_label = {};
  /// Of prototypes alone: the part of the network's input that the image shows, in its pixels:
  /// Placement::content(). Unset: all of it.
  std::optional<RegionF> content = {};
  /// An image of the same size and format to draw over a copy of; borrowed for the call. Null: the
  /// image is drawn on as it is.
  const Tensor* background = nullptr;
  /// Black first: zeros, also in the alpha channel; for NV12 the black of its range.
  bool clear = false;
};

/// Draws masks on u8 images: rgb, bgr, rgba, bgra, planar_rgb, planar_rgba and nv12, of any
/// strides, parts of images too. Keeps its memory: a second frame of the same kind allocates
/// nothing. Move-only; one thread at a time.
///
/// A pixel where the mask is on becomes round((c a + p (255 - a)) / 255), with c the colour, p what
/// was there and a = round(opacity x alpha of the colour), the same on every processor. Alpha
/// channels of images keep their values: a cleared rgba image stays transparent. Detections are
/// given best first and drawn from the last to the first, so the best lies on top, as Overlay
/// draws them.
///
/// NV12: c is the colour in the image's matrix and range (resolve()), luma is blended per pixel.
/// A chroma sample becomes what averaging its four pixels' blended chroma gives, rounded once; at
/// odd borders the last column or row counts for the one that is missing.
///
/// Errors of all calls, before anything is written: invalid_argument (opacity not in 0..1, not as
/// many track ids as detections, a background of another size or format or that shares bytes with
/// the image, background and clear together, an image that carries an orientation), unsupported
/// (format, dtype), those of mapping.
class MaskPainter {
 public:
  MaskPainter() noexcept;
  MaskPainter(MaskPainter&&) noexcept;
  MaskPainter& operator=(MaskPainter&&) noexcept;
  ~MaskPainter();

  /// From prototypes straight to pixels: logits once per prototype pixel, sampled row by row. The
  /// same pixels as materialize() with rule logits, the image's size and the same content give.
  /// Boxes in pixels of the network's input. Errors: also those of materialize().
  Status draw(Tensor& image, const MaskPrototypes& prototypes,
              std::span<const Detection> detections, const MaskDrawOptions& options = {});

  /// Masks that exist, made for the image's size by any rule; a byte is on from 128. Detections
  /// give labels. Errors: also invalid_argument (the set's frame is not the image's size, not as
  /// many masks as detections, content is set).
  Status draw(Tensor& image, const MaskSet& masks, std::span<const Detection> detections,
              const MaskDrawOptions& options = {});

  /// A class id for every pixel, u8 or u16, [H, W] or [H, W, 1] of the image's extent, as
  /// SemanticMapper gives them. Coloured by class. Errors: also invalid_argument (extent, content
  /// is set, the map shares bytes with the image), unsupported (dtype, strides).
  Status draw(Tensor& image, const Tensor& class_map, const MaskDrawOptions& options = {});

 private:
  std::unique_ptr<draw::PaintWorkspace> workspace_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
