// SPDX-License-Identifier: Apache-2.0
// The state that an ImageProcessor keeps for drawing and for masks.
#pragma once

#include <mutex>

#include "fork_mutex.h"
#include "halyard/compat/draw.h"

namespace halyard::python {

/// One processor's painter; its calls wait for each other.
struct PyPainter {
  compat::Painter value;
  compat::SegmentationList masks;
  PyMutex mutex;
};

}  // namespace halyard::python
