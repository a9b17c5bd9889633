// SPDX-License-Identifier: Apache-2.0
// Coordinates of the marks of boxes and tracks that Painter draws.
#pragma once

#include "compat/painter_state.h"

namespace halyard::compat {

/// Converts fractions of the network's input to pixels of the image, of which the letterbox shows a
/// part.
Box on_image(const Box& box, const std::optional<Letterbox>& letterbox, Size size) noexcept;

/// Converts pixels of `input` to fractions; `input` is 1 x 1 if the box is in fractions already.
Box as_fraction(const Box& box, Size input) noexcept;

}  // namespace halyard::compat
