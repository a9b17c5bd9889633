// SPDX-License-Identifier: Apache-2.0
// Direct: colours of source rows as they are, where nothing is resampled or turned.
#include "image/cpu/program.h"

namespace halyard::image {

ProgramPtr compile_direct(const Plan&) {
  return nullptr;
}

}  // namespace halyard::image
