// SPDX-License-Identifier: Apache-2.0
// The part of a shader that makes a pixel of the destination: filtered, in the destination's
// colours, or pad.
#pragma once

#include <string>

#include "image/plan.h"

namespace halyard::image {

/// pixel(): the codes of a destination pixel, in the channels of its colour model. Calls filter0()
/// and filter1(). May throw std::bad_alloc.
std::string pixel_text(const Plan& plan);

}  // namespace halyard::image
