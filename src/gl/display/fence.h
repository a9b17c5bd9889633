// SPDX-License-Identifier: Apache-2.0
// Fences between OpenGL and other users of a buffer, as sync files of the kernel.
#pragma once

#include "gl/display/worker.h"
#include "halyard/fd.h"

namespace halyard::gl {

// Both run on the worker's thread. Errors of both: unsupported (the driver has no native fences),
// device.

/// Makes the GPU wait for `sync_file`, which is borrowed, before what the context is given next.
/// Errors: also unsupported (the driver does not take this descriptor), os.
Status wait_on_gpu(const Worker& worker, int sync_file);

/// A sync file that signals when the GPU has done all that the context was given so far. The GPU
/// begins at once.
Result<Fd> make_sync_file(const Worker& worker);

}  // namespace halyard::gl
