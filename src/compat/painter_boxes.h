// SPDX-License-Identifier: Apache-2.0
// One call of a painter, and what it draws beside masks: outlines of boxes, and points.
#pragma once

#include <span>

#include "base/local.h"
#include "draw/draw_engine.h"
#include "halyard/compat/draw.h"
#include "halyard/decode.h"

namespace halyard::compat {

struct PaintCall {
  Tensor& dst;
  const DrawOptions& options;
  draw::DrawEngine& engine;
  draw::DrawList& list;   ///< memory
  MaskDrawOptions masks;  ///< for MaskPainter
  Size input{1, 1};       ///< boxes are in pixels of this size; 1 x 1: in fractions
};

/// The colour of box `index` of the call's list.
const Color& color_for(const PaintCall& call, const Detection& box, std::size_t index) noexcept;

/// Converts pixels of the call's input to pixels of the image, of which the letterbox shows a part.
Box on_image(const Box& box, const PaintCall& call) noexcept;

/// Draws the outlines of boxes from `first` on.
Status draw_outlines(const PaintCall& call, std::span<const Detection> boxes,
                     std::size_t first = 0);
/// Draws rotated boxes and points of the boxes that have them, and upright outlines of the others.
Status draw_marks(const PaintCall& call, const Decoded& decoded);
/// Draws the base and outlines over it, a few rows at a time, so that the rows stay in the cache.
Status draw_boxes_alone(const PaintCall& call, std::span<const Detection> boxes);

}  // namespace halyard::compat
