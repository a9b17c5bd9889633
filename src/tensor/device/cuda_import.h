// SPDX-License-Identifier: Apache-2.0
// A DMA-BUF as CUDA sees it.
#pragma once

#include <memory>

#include "halyard/device.h"

namespace halyard {

/// Makes the attachment that imports a DMA-BUF into CUDA: at its first begin(), on the calling
/// thread's device, until the buffer is destroyed. The CPU may map the buffer meanwhile. end()
/// waits for the stream, so that the CPU sees what CUDA has written. Errors: those of
/// cuda_runtime(); begin() also unsupported (CUDA refuses the memory: on PCs it takes no DMA-BUFs),
/// no_memory, os.
Result<std::unique_ptr<DeviceAttachment>> make_cuda_import(Buffer& buffer);

}  // namespace halyard
