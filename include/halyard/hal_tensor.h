// SPDX-License-Identifier: Apache-2.0
// Tensors in C: memory, maps, DLPack.
#pragma once

#include "halyard/hal_base.h"

HAL_BEGIN

/// A zero-filled tensor, C-contiguous. `name` may be NULL; one that is not UTF-8 counts as NULL.
/// errno: EINVAL (shape NULL, ndim not 1..8, sizes that overflow, values that are no dtype or
/// memory), ENOMEM, ENOTSUP, EACCES.
hal_tensor* hal_tensor_new(hal_dtype dtype, const size_t* shape, size_t ndim,
                           hal_tensor_memory memory, const char* name);
/// A tensor over the start of a DMA-BUF or shared memory. `fd` is duplicated and stays the
/// caller's. errno: EINVAL (as above; fd is negative, closed, smaller than the shape, or something
/// else), and what system calls report.
hal_tensor* hal_tensor_from_fd(hal_dtype dtype, int fd, const size_t* shape, size_t ndim,
                               const char* name);
/// Gives up the handle. The bytes live on as long as maps, other tensors or consumers hold them.
void hal_tensor_free(hal_tensor* tensor);

hal_dtype hal_tensor_dtype(const hal_tensor* tensor);  ///< NULL: U8
/// Bytes of one element; NULL: 0.
size_t hal_tensor_dtype_size(const hal_tensor* tensor);
hal_tensor_memory hal_tensor_memory_type(const hal_tensor* tensor);  ///< NULL: MEM
/// A copy, to be released by free(); NULL without a name. errno: EINVAL (NULL), ENOMEM.
char* hal_tensor_name(const hal_tensor* tensor);
/// Outermost extent first; valid as long as the tensor. `out_ndim` may be NULL. NULL: NULL and 0.
const size_t* hal_tensor_shape(const hal_tensor* tensor, size_t* out_ndim);
/// Count of elements; NULL: 0.
size_t hal_tensor_len(const hal_tensor* tensor);
/// Bytes of the elements, without padding; NULL: 0.
size_t hal_tensor_size(const hal_tensor* tensor);
/// A descriptor of the memory for the caller to close. errno: EINVAL (NULL), ENOTSUP (MEM, PBO).
int hal_tensor_clone_fd(const hal_tensor* tensor);

/// Opens the bytes to the CPU, to read and write; to read alone where the memory must not be
/// written. Several maps may exist at once. errno: EINVAL (NULL), ENOTSUP, and system calls'.
hal_tensor_map* hal_tensor_map_create(const hal_tensor* tensor);
/// Address of the first element; NULL for NULL, and for a map to read alone.
void* hal_tensor_map_data(hal_tensor_map* map);
const void* hal_tensor_map_data_const(const hal_tensor_map* map);
const size_t* hal_tensor_map_shape(const hal_tensor_map* map, size_t* out_ndim);
/// Count of elements; NULL: 0.
size_t hal_tensor_map_len(const hal_tensor_map* map);
/// Bytes from the first element to the end of the last, padding between rows included; NULL: 0.
size_t hal_tensor_map_size(const hal_tensor_map* map);
/// Ends the access and gives up the handle.
void hal_tensor_map_unmap(hal_tensor_map* map);

// DLPack, with the structs of its own dlpack.h. See halyard/dlpack.h for what is checked.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/// Export to one consumer, who calls the deleter, on any thread. The bytes stay mapped till then.
/// errno: EINVAL (NULL), ENOTSUP (strides that DLPack cannot say), EACCES (read-only memory: only
/// the versioned form with `read_only` serves it), those of hal_tensor_map_create().
struct DLManagedTensor* hal_tensor_to_dlpack(const hal_tensor* tensor);
struct DLManagedTensorVersioned* hal_tensor_to_dlpack_versioned(const hal_tensor* tensor,
                                                                bool read_only);
/// Takes over a producer's tensor without a copy; its deleter runs behind the last user. On failure
/// it stays the caller's. errno: EINVAL, ENOTSUP (device, element type), EPROTO (not DLPack 1.x).
hal_tensor* hal_tensor_from_dlpack(struct DLManagedTensor* managed);
hal_tensor* hal_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned* managed);

/// Copies of payload that the library has made in this process, and their bytes: none on a path
/// without copies. Either pointer may be NULL.
void hal_copy_stats(uint64_t* copies, uint64_t* bytes);

HAL_END
