// SPDX-License-Identifier: Apache-2.0
// Errors that OpenGL keeps until they are asked for. On the worker's thread.
#pragma once

#include "gl/display/worker.h"

namespace halyard::gl {

/// The errors since the last call. `what` is the message of the first. Marks the worker as lost if
/// its context is. Errors: no_memory, device.
Status check_errors(Worker& worker, const char* what);

/// Forgets the errors of earlier calls, which may be another layer's.
void drop_errors();

}  // namespace halyard::gl
