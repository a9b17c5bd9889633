// SPDX-License-Identifier: Apache-2.0
// DLPack: tensors to and from NumPy, PyTorch, JAX, ONNX Runtime and others, without a copy.
#pragma once

#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

// The structs of DLPack's own dlpack.h, which callers that look inside include beside this header.
extern "C" {
struct DLManagedTensor;
struct DLManagedTensorVersioned;
}

HALYARD_EXPORTS_BEGIN
namespace halyard {

struct DlpackOptions {
  /// Map for reading only and set DLPACK_FLAG_BITMASK_READ_ONLY. Read-only buffers need it.
  bool read_only = false;
};

/// Exports as DLPack 1.x on the CPU (kDLCPU; shm and DMA-BUF memory too). The bytes stay mapped,
/// with coherency held open, until the consumer calls the deleter; that may be on any thread. The
/// map makes no claim on the bytes: writers on both sides order themselves.
/// The caller owns the result: hand it to one consumer, or call its deleter.
/// Errors: unsupported (planes in several places, strides that are no whole elements, elements at
/// no multiple of their size), those of Tensor::map().
Result<DLManagedTensorVersioned*> to_dlpack(const Tensor& tensor,
                                            const DlpackOptions& options = {});

/// The form before 1.0, which cannot say read-only: read-only buffers are refused (permission).
Result<DLManagedTensor*> to_dlpack_unversioned(const Tensor& tensor);

/// Takes over a producer's tensor; its deleter runs once, when the last user of the bytes is gone.
/// On failure it stays the caller's. CPU-addressable devices only (kDLCPU, kDLCUDAHost,
/// kDLROCMHost, kDLCUDAManaged). The read-only flag gives a read-only buffer.
/// Errors: invalid_argument (null, rank 0 or above 8, negative extents, sizes or strides that
/// overflow, null data with elements, a byte_offset or data address that is no multiple of the
/// element, a byte_offset of 2^63 or more), version (major other than 1), unsupported (device;
/// element type: lanes above 1, fewer than 8 bits, complex).
Result<Tensor> from_dlpack(DLManagedTensorVersioned* managed);
Result<Tensor> from_dlpack(DLManagedTensor* managed);

}  // namespace halyard
HALYARD_EXPORTS_END
