// SPDX-License-Identifier: Apache-2.0
// A pixel buffer as CUDA sees it.
#pragma once

#include <memory>

#include "gl/memory/pbo_buffer.h"
#include "halyard/device.h"

namespace halyard::gl {

/// Makes the attachment that registers a pixel buffer with CUDA: at its first begin(), until the
/// buffer is destroyed. All calls of CUDA run on the worker's thread, where the context is current,
/// on the CUDA device of that context. The CPU cannot map the buffer between begin() and end().
/// Errors: those of cuda_runtime(); begin() also unsupported (the context is on no CUDA device, as
/// with an OpenGL in software; CUDA refuses the buffer; the address is not a multiple of 256),
/// no_memory, device.
Result<std::unique_ptr<DeviceAttachment>> make_cuda_registration(const PboBuffer& buffer);

}  // namespace halyard::gl
