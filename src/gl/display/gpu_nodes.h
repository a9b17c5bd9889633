// SPDX-License-Identifier: Apache-2.0
// Looks for a GPU without loading its driver.
#pragma once

#include "halyard/result.h"

namespace halyard::gl {

/// Whether this machine has a node of a GPU that a driver of OpenGL ES is known for. Machines
/// without one are spared the loading of OpenGL, which takes a tenth of a second. Errors:
/// unsupported.
Status find_gpu_node();

}  // namespace halyard::gl
