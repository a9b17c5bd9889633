// SPDX-License-Identifier: Apache-2.0
// Marks of boxes and tracks as Painter draws them.
#pragma once

#include "compat/painter_state.h"

namespace halyard::compat {

/// Fractions of the network's input in pixels of the image, of which the letterbox shows a part.
Box on_image(const Box& box, const std::optional<Letterbox>& letterbox, Size size) noexcept;

/// Pixels of `input`, which is 1 x 1 where they are fractions already.
Box as_fraction(const Box& box, Size input) noexcept;

}  // namespace halyard::compat
