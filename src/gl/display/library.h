// SPDX-License-Identifier: Apache-2.0
// Loads EGL and OpenGL ES. libepoxy finds their functions, but ends the process where a library is
// missing, so every caller of it passes through here first.
#pragma once

#include "halyard/result.h"

namespace halyard::gl {

/// Loads libEGL and libGLESv2 once; they stay loaded until the process ends. In a child of fork()
/// whose parent had loaded them it fails, because drivers do not survive fork(). Thread-safe.
/// Errors: unsupported.
Status load_libraries();

}  // namespace halyard::gl
