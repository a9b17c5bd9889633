// SPDX-License-Identifier: Apache-2.0
// Selects a text colour that is readable on a coloured tag. For the colours see palette_color().
#pragma once

#include "halyard/draw.h"

namespace halyard::draw {

/// Black on light tags, white on dark tags, by BT.601 luma.
inline Color text_color_on(const Color& tag) noexcept {
  const int luma = (299 * tag[0] + 587 * tag[1] + 114 * tag[2]) / 1000;
  return luma > 130 ? Color{0, 0, 0} : Color{255, 255, 255};
}

}  // namespace halyard::draw
