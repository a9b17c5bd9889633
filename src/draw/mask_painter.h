// SPDX-License-Identifier: Apache-2.0
// What painters of masks and of class maps share.
#pragma once

#include "draw/mask_workspace.h"

namespace halyard::draw {

/// What all calls refuse.
Status check_options(const Tensor& image, const MaskDrawOptions& options);

/// Copies the background, or clears.
Status lay_base(Tensor& image, const MaskDrawOptions& options);

/// The colour of class, instance or track `index`.
Ink ink_for(const MaskCanvas& canvas, const MaskDrawOptions& options, std::uint64_t index) noexcept;

}  // namespace halyard::draw
