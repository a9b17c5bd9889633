// SPDX-License-Identifier: Apache-2.0
// Style: all lengths of an overlay on one image, in pixels, and the texts of tags.
#pragma once

#include <string>

#include "halyard/draw.h"

namespace halyard::draw {

struct Style {
  int line = 2;       ///< box lines
  int thin_line = 1;  ///< box lines of coasting tracks
  int dash = 6;       ///< dash and gap of coasting tracks
  int radius = 4;     ///< outer radius of box corners
  int tag_radius = 3;
  int text = 14;  ///< em size
  int tag_height = 18;
  int padding = 4;  ///< left and right of the text
  float trail_width = 2;
};

/// Sizes that the options do not set follow from the image's size.
Style style_for(const OverlayOptions& options, int width, int height) noexcept;

/// "person 87%", "class 7 87%", "person #12 87%". A NaN score is left out.
std::string tag_text(const OverlayOptions& options, const Detection& detection);
std::string tag_text(const OverlayOptions& options, const Track& track);

}  // namespace halyard::draw
