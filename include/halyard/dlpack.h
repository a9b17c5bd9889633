// SPDX-License-Identifier: Apache-2.0
// DLPack: exchanges tensors with NumPy, PyTorch, JAX, ONNX Runtime and others, without a copy.
#pragma once

#include <memory>

#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

// The structs of DLPack's own dlpack.h. Callers that read their members also include dlpack.h.
extern "C" {
struct DLManagedTensor;
struct DLManagedTensorVersioned;
}

HALYARD_EXPORTS_BEGIN
namespace halyard {

class DeviceMap;

struct DlpackOptions {
  /// Map for reading only and set DLPACK_FLAG_BITMASK_READ_ONLY. Read-only buffers need it.
  bool read_only = false;
};

/// Exports as DLPack 1.x on the CPU (kDLCPU; shm and DMA-BUF memory too). The bytes stay mapped for
/// CPU access until the consumer calls the deleter, which may be on any thread. The map makes no
/// write claim: the caller must order writers on both sides.
/// The caller owns the result: hand it to one consumer, or call its deleter.
/// Errors: unsupported (planes in several buffers, strides that are not whole elements, elements
/// that are not aligned to their size), those of Tensor::map().
Result<DLManagedTensorVersioned*> to_dlpack(const Tensor& tensor,
                                            const DlpackOptions& options = {});

/// Exports in the form before DLPack 1.0, which has no read-only flag: read-only buffers are
/// refused (permission).
Result<DLManagedTensor*> to_dlpack_unversioned(const Tensor& tensor);

/// Exports elements on a device (kDLCUDA with the device's number) through `map`, which
/// map_device() made from tensor.buffer(). The map ends when `map` and all exports of it have been
/// released, on the thread of the last one; a consumer's work must be done by then, or be ordered
/// before later work of the map's stream. The caller orders the consumer's stream after the map's
/// one, by DeviceMap::wait() or otherwise. Any number of exports may share a map.
/// Errors: invalid_argument (null or moved-from map, another buffer, several buffers), permission
/// (a read-only buffer without options.read_only), unsupported (as for the CPU; a modifier that is
/// not linear).
Result<DLManagedTensorVersioned*> to_dlpack(const Tensor& tensor,
                                            std::shared_ptr<const DeviceMap> map,
                                            const DlpackOptions& options = {});
/// The same in the form before DLPack 1.0.
Result<DLManagedTensor*> to_dlpack_unversioned(const Tensor& tensor,
                                               std::shared_ptr<const DeviceMap> map);

/// Takes ownership of a producer's tensor. Its deleter runs once, when the last user of the bytes
/// is destroyed. On an error the caller keeps ownership. CPU-addressable devices only (kDLCPU,
/// kDLCUDAHost, kDLROCMHost, kDLCUDAManaged). The read-only flag gives a read-only buffer.
/// Errors: invalid_argument (null, rank 0 or above 8, negative extents, sizes or strides that
/// overflow, null data with elements, a byte_offset or data address that is not a multiple of the
/// element size, a byte_offset of 2^63 or more), version (major other than 1), unsupported (device;
/// element type: lanes above 1, fewer than 8 bits, complex).
Result<Tensor> from_dlpack(DLManagedTensorVersioned* managed);
Result<Tensor> from_dlpack(DLManagedTensor* managed);

}  // namespace halyard
HALYARD_EXPORTS_END
