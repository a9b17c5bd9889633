// SPDX-License-Identifier: Apache-2.0
// Makes the jobs of a device from what a painter has prepared.
#pragma once

#include "draw/mask/paint_job.h"
#include "draw/mask/paint_workspace.h"
#include "halyard/mask_draw.h"

namespace halyard::draw {

// The jobs borrow the workspace, and the tensors and sets that they are made from. All may throw
// std::bad_alloc.

/// `own` has the plans, samples and inks of all detections.
PaintJob prototype_job(PaintWorkspace& own, const MaskPrototypes& prototypes,
                       const decode::PrototypeGrid& grid);
/// `own` has the inks.
PaintJob mask_set_job(PaintWorkspace& own, const MaskSet& masks);
/// Without inks. The map has the size of the image.
PaintJob class_map_job(const TensorMap& map) noexcept;

}  // namespace halyard::draw
