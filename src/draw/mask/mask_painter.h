// SPDX-License-Identifier: Apache-2.0
// Functions that the painters of masks and of class maps share.
#pragma once

#include "draw/mask/paint_workspace.h"
#include "halyard/mask_draw.h"

namespace halyard::draw {

/// Checks that apply to all draw calls.
Status check_options(const Tensor& image, const MaskDrawOptions& options);

/// Copies the background, or clears the image.
Status lay_base(Tensor& image, const MaskDrawOptions& options);

/// Draws by OpenGL what `job` has and the options ask for. True: done, or `status` is an error.
/// False: the CPU is to draw all, also the base.
bool paint_by_gl(PaintWorkspace& own, const Tensor& image, const MaskDrawOptions& options,
                 PaintJob& job, Status& status);

/// A canvas for inks, without pixels.
Canvas ink_canvas(const Tensor& image) noexcept;

/// The colour of class, instance or track `index`.
Ink ink_for(const Canvas& canvas, const MaskDrawOptions& options, std::uint64_t index) noexcept;

}  // namespace halyard::draw
