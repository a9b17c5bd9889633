// SPDX-License-Identifier: Apache-2.0
// Selects a text colour that is readable on a coloured tag.
#pragma once

#include "halyard/palette.h"

namespace halyard::draw {

/// Black on light tags, white on dark tags, by BT.601 luma.
inline Color text_color_on(const Color& tag) noexcept {
  const int luma = (299 * tag.r + 587 * tag.g + 114 * tag.b) / 1000;
  return luma > 130 ? Color{0, 0, 0} : Color{255, 255, 255};
}

}  // namespace halyard::draw
