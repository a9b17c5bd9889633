// SPDX-License-Identifier: Apache-2.0
// Moves: pictures whose bytes only change place.
#include "image/cpu/program.h"

namespace halyard::image {

ProgramPtr compile_move(const Plan&) {
  return nullptr;
}

}  // namespace halyard::image
