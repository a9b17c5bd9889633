// SPDX-License-Identifier: Apache-2.0
// Boxes and masks refer to upright images, so only such images can be drawn on.
#pragma once

#include "base/text/format_error.h"
#include "halyard/tensor.h"

namespace halyard::draw {

/// Errors: invalid_argument (the image carries an orientation).
inline Status check_upright(const Tensor& image) {
  if (image.orientation() == Orientation{}) return {};
  return fail(Errc::invalid_argument,
              "image: carries an orientation; convert it into an upright one to draw on");
}

}  // namespace halyard::draw
